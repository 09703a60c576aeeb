"""The report on checked inputs as one JSON object: `{"inputs": […], "summary": {…}}`, one input per line."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import orjson

from conformance.reporting.text import Paint, printable_json

FIXES: Final = True
"""A finding about a client has its fix, as a JSON Patch."""


def part(report: Mapping[str, Any], _paint: Paint) -> str:
    """Return the object of an input."""
    return printable_json(orjson.dumps(report).decode())


def render_inputs(parts: Iterable[str], summary: Callable[[], Mapping[str, Any]], _paint: Paint) -> Iterator[str]:
    """Yield the report line by line; `summary` is called after the last input."""
    before = '{"inputs": [\n'
    for each in parts:
        yield before + each
        before = ",\n"
    yield "\n" if before.startswith(",") else before
    yield f'], "summary": {orjson.dumps(summary()).decode()}}}\n'
