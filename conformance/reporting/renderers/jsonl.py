"""The report on checked inputs as JSON Lines: one input per line, written as soon as it is checked."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import orjson

from conformance.reporting.text import Paint


def render_inputs(
    inputs: Iterable[Mapping[str, Any]],
    _summary: Callable[[], Mapping[str, Any]],
    _paint: Paint,
) -> Iterator[str]:
    """Yield one line per input; there is no summary, because every line is an input."""
    for each in inputs:
        yield orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE).decode()
