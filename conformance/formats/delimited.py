"""Tables as text, such as exports of a database: each row is read like a line of JSON Lines with the same keys.

Source: https://www.rfc-editor.org/rfc/rfc4180
"""

import csv
import io
from collections.abc import Iterator
from typing import Any, Final

import orjson

from conformance.documents import BOUNDS, parse_json
from conformance.errors import InvalidDocument
from conformance.formats.inputs import Input
from conformance.formats.jsonl import Line, read_lines

_EMPTY: Final = (None, "")


def read(data: bytes, path: str) -> Iterator[Input]:
    """Yield the inputs of a table with a row of names; raises InvalidDocument if it is not one."""
    text = data.decode("utf-8", "replace")
    header = text.partition("\n")[0]
    separator = max((",", "\t", ";"), key=header.count)
    yield from read_lines(_rows(text, separator, path), path)


def _rows(text: str, separator: str, path: str) -> Iterator[Line]:
    # The limit is that of the process, so it is put back: 128 KiB is less than most requests of agents.
    before = csv.field_size_limit(BOUNDS.bytes)
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        number = 2
        for row in rows:
            cells = {
                name: _cell(each) for name, each in row.items() if isinstance(name, str) and each not in (None, "")
            }
            yield Line(number, orjson.dumps(cells))
            number = rows.line_num + 1
    except csv.Error as error:
        raise InvalidDocument(f"expected a table of comma-separated values, got: {error}", path) from None
    finally:
        csv.field_size_limit(before)


def _cell(text: Any) -> Any:
    """Return what a cell holds: JSON if it is an object or a list, else its text."""
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return parse_json(text)
    except InvalidDocument:
        return text
