"""Parquet files, read row group by row group: a row is an exchange, or one column holds what lines of JSON Lines hold.

Columns are recognized by their content first and by their names second, and only those that are used are read.
"""

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance import wires
from conformance.documents import parse_json
from conformance.errors import InvalidDocument, Unrecognized, Unusable
from conformance.formats import hints, json
from conformance.formats.compression import unpack
from conformance.formats.inputs import Input
from conformance.formats.jsonl import Line, read_lines
from conformance.formats.rows import BODIES, NAMES, NAMING, Row, arrow, by_name, conversations, is_text, values_of
from conformance.wire.exchange import Exchange
from conformance.wire.plain import is_event_stream

if TYPE_CHECKING:
    import pyarrow
    from pyarrow.parquet import ParquetFile

KIND: Final = "parquet"

_ROWS: Final = 128
"""How many rows are in memory at once; rows of one session that are further apart are conversations of their own."""
_SAMPLE: Final = 32
"""How many values of a column show what it holds."""
_BUFFER: Final = 1 << 20
_RECORD: Final = "record"
_HEAD: Final = 4096
_MAX_COLUMNS: Final = 12
_NESTED: Final = ("messages", *chain(*[NAMES[part] for part in BODIES]))
_PLAIN: Final = re.compile("[a-z_][a-z0-9_]*")
_SPECIAL: Final = re.compile(r'["$`\\!]')
_ACCEPTED: Final = (
    "expected a Parquet file with a column of request bodies, of reply bodies, or of lines as in JSON Lines, each as"
    " JSON text or bytes"
)


def read_path(path: Path) -> Iterator[Input]:
    """Yield the inputs of a Parquet file in constant memory, whatever its size; the line of an input is its row.

    Raises InvalidDocument if the file is damaged or pyarrow is not installed, Unrecognized if no column holds anything
    that can be checked.
    """
    yield from _read(path, str(path))


def read(data: bytes, path: str) -> Iterator[Input]:
    """Yield the inputs in the content of a Parquet file, as `read_path` does."""
    yield from _read(io.BytesIO(data), path)


def _read(source: Any, name: str) -> Iterator[Input]:
    try:
        pa = arrow()
    except Unusable as error:
        raise InvalidDocument(f"is a Parquet file, and {error}", name) from None
    from pyarrow.parquet import ParquetFile

    try:
        # Without a buffer of its own, a whole row group would be in memory.
        with ParquetFile(source, buffer_size=_BUFFER, pre_buffer=False) as file:
            yield from _inputs(file, name)
    except (pa.ArrowException, OSError) as error:
        raise InvalidDocument(f"cannot be read as a Parquet file: {error}", name) from None


def _inputs(file: "ParquetFile", name: str) -> Iterator[Input]:
    found = _columns(file, name)
    batches = file.iter_batches(_ROWS, columns=sorted(set(found.chosen.values())), use_threads=False)
    record = found.chosen.get(_RECORD)
    inputs = (
        _of_rows(batches, found.chosen, name) if record is None else read_lines(_lines(batches, record, name), name)
    )
    notes = found.notes
    for given in inputs:
        yield given._replace(notes=(*notes, *given.notes)) if notes else given
        # An input that cannot be read shows no notes.
        notes = notes if given.problem else ()


def _of_rows(batches: Iterable["pyarrow.RecordBatch"], chosen: Mapping[str, str], name: str) -> Iterator[Input]:
    parts: dict[str, str | None] = {**dict.fromkeys(NAMES), **chosen}
    for rows in conversations(batches, parts):
        for row in rows:
            if row.problem:
                problem = InvalidDocument(row.problem, name, row.number + 1)
                yield Input(name, row.number + 1, KIND, problem=problem)
        yield from _input([row for row in rows if row.exchange is not None], name)


def _input(rows: Sequence[Row], name: str) -> Iterator[Input]:
    if rows:
        kind, lines = ("exchange", ()) if len(rows) == 1 else ("exchanges", tuple([row.number + 1 for row in rows]))
        exchanges = tuple([row.exchange for row in rows if row.exchange is not None])
        yield Input(name, rows[0].number + 1, kind, exchanges, session=rows[0].session or "", lines=lines)


def _lines(batches: Iterable["pyarrow.RecordBatch"], column: str, name: str) -> Iterator[Line]:
    number = 0
    for batch in batches:
        for value in values_of(batch.column(column)):
            number += 1
            if value is None or not value.strip():
                yield Line(number, b"", InvalidDocument("expected a value, got null", name, number))
            else:
                yield Line(number, value)


class _ChosenColumns(NamedTuple):
    """The column for each part of an exchange, or the one for `_RECORD`; `notes`: what is not read."""

    chosen: Mapping[str, str]
    notes: tuple[str, ...] = ()


def _columns(file: "ParquetFile", name: str) -> _ChosenColumns:
    """Return what the columns of a file hold, by the values of its first rows."""
    names = file.schema_arrow.names
    samples = _samples(file)
    kinds = {column: _kind(values, name) for column, values in samples.items()}
    named = by_name(names)
    # A column with a known name may have no valid value among the first ones.
    unclear = {part: named[part] for part in BODIES if kinds.get(named.get(part, "")) == ""}
    bodies = {}
    for part in BODIES:
        holders = [column for column, kind in kinds.items() if kind == part]
        if holders:
            bodies[part] = named[part] if named.get(part) in holders else holders[0]
    records = [column for column, kind in kinds.items() if kind == _RECORD]
    if records and not bodies:
        return _ChosenColumns({_RECORD: records[0]}, tuple(_not_checked(records[1:], _nested(file))))
    if not bodies and not unclear:
        raise Unrecognized(_ACCEPTED + _nearest(file, samples, name), name)
    others = {
        part: column
        for part, column in named.items()
        if part not in BODIES
        and column not in bodies.values()
        and not (part in NAMING and file.schema_arrow.field(column).type.num_fields)
    }
    return _ChosenColumns(others | unclear | bodies, tuple(_not_checked(records, _nested(file))))


def _not_checked(records: Iterable[str], nested: Iterable[str]) -> Iterator[str]:
    for column in records:
        yield f"the column {column!r} is not checked: it holds JSON, but no bodies"
    for column in nested:
        yield f"the column {column!r} is not checked: it holds nested values instead of JSON"


def _samples(file: "ParquetFile") -> dict[str, list[bytes]]:
    """Return the first values of each column that holds text or bytes."""
    names = file.schema_arrow.names
    columns = [field.name for field in file.schema_arrow if is_text(field.type) and names.count(field.name) == 1]
    first = next(file.iter_batches(_ROWS, columns=columns, use_threads=False), None) if columns else None
    if first is None:
        return {column: [] for column in columns}
    return {
        column: list(islice(filter(None, values_of(first.column(at))), _SAMPLE))
        for at, column in enumerate(first.schema.names)
    }


def _kind(values: Sequence[bytes], name: str) -> str:
    """Return what at least half of some values are: request, response or record; else an empty string."""
    counts = Counter([_kind_of(value, name) for value in values])
    kind, count = counts.most_common(1)[0] if counts else ("", 0)
    return kind if 2 * count >= len(values) else ""


def _kind_of(data: bytes, name: str) -> str:
    try:
        text = unpack(data, name)
        if is_event_stream(text[:_HEAD].decode("utf-8", "replace")):
            return "response"
        if not text.lstrip().startswith((b"{", b"[")):
            return ""
        value = parse_json(text, name)
    except InvalidDocument:
        return ""
    try:
        found = next(json.read_value(value, name, 1), None)
    except InvalidDocument:
        # A body of another wire is not an input by itself.
        if wires.is_native(Exchange.of_plain(request=value)):
            return "request"
        return "response" if wires.is_native(Exchange.of_plain(response=value)) else ""
    return "" if found is None else found.kind if found.kind in BODIES else _RECORD


def _nearest(file: "ParquetFile", samples: Mapping[str, Sequence[bytes]], name: str) -> str:
    """Return what comes nearest to a column that can be checked, and how to get at it."""
    file_name = "'" + name.replace("'", "''") + "'"
    for column, values in samples.items():
        for value in values:
            try:
                kind, place = hints.nearest(parse_json(value, name))
            except InvalidDocument:
                continue
            if kind:
                query = f"FROM {file_name} SELECT {_identifier(column)}"
                jq = f"duckdb -list -noheader -c {_argument(query)} | jq -c {quote(place)}"
                return f"; {kind} is inside the column {column!r}: {jq} | conformance check -"
    nested = _nested(file)
    if nested:
        column = _identifier(nested[0])
        query = f"COPY (FROM {file_name} SELECT to_json({column}) AS {column}) TO 'bodies.parquet'"
        return (
            f"; the column {nested[0]!r} holds nested values, in which null stands for every key that a body lacks:"
            f" duckdb -c {_argument(query)}, and expect findings about these nulls"
        )
    columns = ", ".join(f"{field.name} ({field.type})" for field in list(file.schema_arrow)[:_MAX_COLUMNS])
    return f"; got the columns {columns or 'none'}"


def _nested(file: "ParquetFile") -> list[str]:
    """Return the columns that have the name of a body and hold structs or lists instead of JSON."""
    fields = [field for field in file.schema_arrow if field.name.lower() in _NESTED]
    return [field.name for field in fields if field.type.num_fields and not is_text(field.type)]


def _identifier(name: str) -> str:
    """Return the name of a column as SQL quotes it, if it must be quoted."""
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _argument(query: str) -> str:
    """Return a query as an argument of the shell; in double quotes, if that is enough, since SQL has single ones."""
    return f'"{query}"' if not _SPECIAL.search(query) else quote(query)
