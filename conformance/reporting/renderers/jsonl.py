"""The report on checked inputs as JSON Lines: one input per line, written as soon as it is checked."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import orjson

from conformance.reporting.text import Paint, printable_json

FIXES: Final = True
"""A finding about a client has its fix, as a JSON Patch."""


def part(report: Mapping[str, Any], _paint: Paint) -> str:
    """Return the line of an input."""
    return printable_json(orjson.dumps(report, option=orjson.OPT_APPEND_NEWLINE).decode())


def render_inputs(parts: Iterable[str], _summary: Callable[[], Mapping[str, Any]], _paint: Paint) -> Iterator[str]:
    """Yield one line per input; there is no summary, because every line is an input."""
    yield from parts
