"""Rows of Arrow tables as exchanges: which column holds what, and which rows are one conversation.

A row is read like a line of JSON Lines with the same keys, so the same traffic has the same findings in either form.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.documents import BOUNDS, GrowingTexts, parse_json
from conformance.errors import InvalidDocument, UnknownName, Unusable
from conformance.formats.compression import unpack, unpack_body
from conformance.formats.records import date_of, date_of_reply, flat_headers, located, status_of
from conformance.wire import plain
from conformance.wire.exchange import Exchange, model_of
from conformance.wires import other_api

if TYPE_CHECKING:
    import pyarrow

NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "request": ("request", "request_body", "request_json", "raw_request"),
    "response": ("response", "response_body", "response_json", "raw_response", "reply"),
    "status": ("status", "status_code", "http_status", "response_status"),
    "stream": ("stream", "streamed", "is_stream"),
    "headers": ("headers", "response_headers"),
    "url": ("url", "request_url", "api_base", "host"),
    "model": ("model",),
    "time": ("time", "timestamp", "date", "created_at", "recorded_at", "start_time"),
    "session": ("session", "session_id", "conversation", "conversation_id", "thread_id"),
    "id": ("id", "request_id", "exchange_id", "custom_id"),
}
"""What a row holds: the names of columns, in any case, that are taken for it; the first one that exists counts."""

BODIES: Final = ("request", "response")
NAMING: Final = ("url", "model", "session", "id")
"""What is text in the results; a column with such a name that holds lists or structs is something else."""
_EVENT_STREAM: Final = "text/event-stream"
_MISSING: Final = "pyarrow is not installed: pip install 'wire-conformance[arrow]'"
_NESTED: Final = (
    "a nested value holds null for every key that a body lacks, so it is no longer what was sent; write bodies as JSON"
    " text or as bytes"
)


def arrow() -> ModuleType:
    """Return the module `pyarrow`; raises Unusable, which names the extra, if it is not installed."""
    try:
        return import_module("pyarrow")
    except ImportError:
        raise Unusable(_MISSING) from None


class Row(NamedTuple):
    """A row: its number (0-based), what identifies it, and its exchange.

    `problem`: why there is no exchange, or why a body of it cannot be judged; else empty. `size`: how many bytes its
    bodies have.
    """

    number: int
    id: str | None
    session: str | None
    exchange: Exchange | None
    problem: str = ""
    size: int = 0


def by_name(names: Sequence[str], given: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """Return the column for each part of an exchange: the given one, else the first that has a known name.

    A part that is given as None is not read. Raises UnknownName for a part or column that does not exist.
    """
    chosen: dict[str, str] = {}
    for part, name in (given or {}).items():
        if part not in NAMES:
            raise UnknownName("part of an exchange", part, NAMES)
        if name is not None:
            if name not in names:
                raise UnknownName("column", name, names)
            chosen[part] = name
    lower = {name.lower(): name for name in reversed(names)}
    for part, known in NAMES.items():
        found = next((lower[each] for each in known if each in lower), None)
        if found is not None and part not in (given or {}) and found not in chosen.values():
            chosen[part] = found
    return chosen


def is_text(kind: "pyarrow.DataType") -> bool:
    """Return whether a column of this type holds text or bytes."""
    types = arrow().types
    if types.is_dictionary(kind):
        return is_text(kind.value_type)
    if isinstance(kind, arrow().BaseExtensionType):
        return is_text(kind.storage_type)
    tests = (types.is_string, types.is_large_string, types.is_string_view, types.is_binary, types.is_large_binary)
    return any(test(kind) for test in (*tests, types.is_binary_view))


def values_of(column: "pyarrow.Array") -> Iterator[Any]:
    """Yield the values of a column, text as bytes."""
    for value in _plain(column, arrow()):
        yield value.as_py()


def conversations(
    batches: Iterable["pyarrow.RecordBatch"], columns: Mapping[str, str | None] | None = None
) -> Iterator[tuple[Row, ...]]:
    """Yield the rows of each conversation; a row without a session is a conversation of its own.

    Rows of one batch with the same session are one conversation, in their order. If the last row of a batch belongs to
    it and the first one of the next batch, too, it continues there. Otherwise it ends with the batch, and also before
    its bodies exceed the size bound of a document. Memory holds one batch and one conversation.
    """
    held = _Conversation()
    first, texts = 0, GrowingTexts()
    for batch in batches:
        rows = _Rows(batch, columns, first, texts)
        first += len(rows)
        if not len(rows):
            continue
        sessions = rows.sessions()
        if held.rows and held.rows[0].session != sessions[0]:
            yield held.close()
        groups = _groups(sessions)
        last = len(rows) - 1
        for numbers in sorted(groups, key=lambda each: each[-1] == last):
            conversation = held if numbers[0] == 0 and held.rows else _Conversation()
            for number in numbers:
                row = rows.row(number, sessions[number])
                if conversation.rows and conversation.size + row.size > BOUNDS.bytes:
                    yield conversation.close()
                conversation.add(row)
            if numbers[-1] == last and sessions[last] is not None:
                held = conversation
            else:
                yield conversation.close()
    if held.rows:
        yield held.close()


def _groups(sessions: Sequence[str | None]) -> list[list[int]]:
    """Return the numbers of the rows of each session, in the order of their first rows."""
    groups: dict[object, list[int]] = {}
    for number, session in enumerate(sessions):
        groups.setdefault(number if session is None else session, []).append(number)
    return list(groups.values())


class _Conversation:
    """The rows of a conversation that may go on."""

    __slots__ = ("rows", "size")

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.size = 0

    def add(self, row: Row) -> None:
        self.rows.append(row)
        self.size += row.size

    def close(self) -> tuple[Row, ...]:
        """Return the rows, and forget them."""
        rows = tuple(self.rows)
        self.rows, self.size = [], 0
        return rows


class _Rows:
    """The rows of a batch; a value becomes an object of Python only when its row is read."""

    def __init__(
        self, batch: "pyarrow.RecordBatch", columns: Mapping[str, str | None] | None, first: int, texts: GrowingTexts
    ) -> None:
        pa = arrow()
        if not isinstance(batch, pa.RecordBatch):
            message = f"expected batches of type pyarrow.RecordBatch, got {type(batch).__qualname__}"
            raise TypeError(message)
        self._count: int = batch.num_rows
        self._first = first
        self._texts = texts
        self._columns: dict[str, Any] = {}
        if not self._count:
            return
        chosen = by_name(batch.schema.names, columns)
        if not chosen.keys() & set(BODIES):
            named = ", ".join(batch.schema.names) or "none"
            message = f"expected a column `request` or `response`, got: {named}; name yours, as in columns="
            raise Unusable(message + "{'request': 'body'}")
        for part, name in chosen.items():
            column = batch.column(batch.schema.names.index(name))
            if part in BODIES and not is_text(column.type) and not pa.types.is_null(column.type):
                why = f"; {_NESTED}" if column.type.num_fields else ""
                message = f"expected text or bytes in the column {name!r}, got {column.type}{why}"
                raise Unusable(message)
            if part in NAMING and column.type.num_fields:
                if (columns or {}).get(part) == name:
                    message = f"expected single values in the column {name!r}, got {column.type}"
                    raise Unusable(message)
                continue
            self._columns[part] = _plain(column, pa)

    def __len__(self) -> int:
        return self._count

    def sessions(self) -> list[str | None]:
        """Return the session of each row; None for those without."""
        return [self._text("session", number) for number in range(self._count)]

    def row(self, number: int, session: str | None) -> Row:
        """Return a row of this batch; one that cannot be read has a problem."""
        request, response = self._value("request", number), self._value("response", number)
        size = len(request or b"") + len(response or b"")
        known = self._first + number, self._text("id", number), session
        try:
            exchange = self._exchange(number, request, response)
        except InvalidDocument as error:
            return Row(*known, None, f"{error.file}: {located(error)}", size)
        if path := other_api(exchange):
            return Row(
                *known, None, f"url: expected that of chat completions or of another known wire, got {path}", size
            )
        return Row(*known, exchange, "", size)

    def _exchange(self, number: int, request: bytes | None, response: bytes | None) -> Exchange:
        headers = self._headers(number)
        sent = None if request is None else self._texts.parse(unpack(request, "request"), "request")
        coding = headers.get("content-encoding", "")
        answer = None if response is None else plain.reply_body(unpack_body(response, coding, "response"))
        if sent is None and answer is None:
            raise InvalidDocument("expected a request or a response, got null", "row")
        is_stream = isinstance(answer, str) and (
            self._value("stream", number) is True
            or plain.is_event_stream(answer)
            or _EVENT_STREAM in headers.get("content-type", "")
        )
        return Exchange.of_plain(
            request=sent,
            response=answer,
            status=_status(self._value("status", number)),
            streamed=is_stream,
            headers=headers,
            url=self._text("url", number) or "",
            model=model_of(sent) or self._text("model", number) or model_of(answer),
            date=_day(self._value("time", number)) or date_of(headers.get("date")) or date_of_reply(answer),
        )

    def _headers(self, number: int) -> dict[str, str]:
        value = self._value("headers", number)
        if isinstance(value, bytes):
            value = parse_json(unpack(value, "headers"), "headers") if value else None
        pairs = value.items() if isinstance(value, Mapping) else value or ()
        if not isinstance(pairs, Iterable) or isinstance(pairs, str):
            raise InvalidDocument(f"expected an object, or a list of names and values, got {value!r:.40}", "headers")
        # A struct has every key that occurs in some row.
        return flat_headers([{"name": name, "value": each} for name, each in map(_header, pairs) if each is not None])

    def _value(self, part: str, number: int) -> Any:
        column = self._columns.get(part)
        return None if column is None else column[number].as_py()

    def _text(self, part: str, number: int) -> str | None:
        """Return a value as text; None if it is null or empty."""
        value = self._value(part, number)
        text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
        return None if value is None or not text else text


def _plain(column: Any, pa: ModuleType) -> Any:
    """Return a column whose values Python reads without loss: text as bytes, times as seconds."""
    kind, types = column.type, pa.types
    if isinstance(kind, pa.BaseExtensionType) and is_text(kind):
        return _plain(column.storage, pa)
    if types.is_dictionary(kind):
        return _plain(column.dictionary_decode(), pa)
    if types.is_timestamp(kind):
        return column.cast(pa.timestamp("s", kind.tz), safe=False).cast(pa.int64())
    casts = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
    return column.cast(casts[kind]) if kind in casts else column


def _header(given: Any) -> tuple[str, Any]:
    """Return name and value of a header: a pair of a map, or an object with `name` or `key` and `value`."""
    if isinstance(given, Mapping) and "value" in given and given.keys() & {"name", "key"}:
        given = given.get("name", given.get("key")), given["value"]
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise InvalidDocument(f"expected a name and a value, got {given!r:.40}", "headers")
    name, value = [each.decode("latin-1") if isinstance(each, bytes) else each for each in given]
    return str(name), value


def _status(value: Any) -> int | None:
    """Return an HTTP status; pandas writes integers beside nulls as floats."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return status_of(int(value) if isinstance(value, float) and value.is_integer() else value)


def _day(value: Any) -> str:
    if isinstance(value, date):
        return value.isoformat()[:10]
    return date_of(value.decode("utf-8", "replace") if isinstance(value, bytes) else value)
