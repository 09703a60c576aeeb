"""Report of judged inputs as JSON lines: one input a line, written as soon as it is judged."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import orjson


def render_inputs(
    inputs: Iterable[Mapping[str, Any]],
    _summary: Callable[[], Mapping[str, Any]],
    _paint: Callable[[str, str], str],
) -> Iterator[str]:
    """Yield one line for each input; there is no summary, since it would be a line that is no input."""
    for each in inputs:
        yield orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE).decode()
