"""Bodies of requests as JSON to read: each member on a line, and each item of a list on a line of its own."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson


class BodyLine(NamedTuple):
    """A line of a body; `is_marked`: it has what was asked for."""

    text: str
    is_marked: bool = False


def body_lines(body: Mapping[str, Any], marked: Sequence[str] = ()) -> Iterator[BodyLine]:
    """Yield the lines of a body; `marked` is the place of what is to be marked, as tokens of a JSON Pointer."""
    yield BodyLine("{")
    # Counted down, so that 0 is the member without a comma.
    for left, (name, value) in zip(reversed(range(len(body))), body.items(), strict=True):
        comma, key = "," if left else "", _text(name)
        is_asked = list(marked[:1]) == [name]
        if not isinstance(value, list) or not value:
            yield BodyLine(f"  {key}: {_text(value)}{comma}", is_asked)
            continue
        yield BodyLine(f"  {key}: [", is_asked and len(marked) == 1)
        for number, each in enumerate(value):
            end = "," if number + 1 < len(value) else ""
            yield BodyLine(f"    {_text(each)}{end}", is_asked and list(marked[1:2]) == [str(number)])
        yield BodyLine(f"  ]{comma}")
    yield BodyLine("}")


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()
