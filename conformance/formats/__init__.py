"""Files to conversations: the format of a file is recognized by its content first, by its name second.

The formats are imported when they are needed: a small JSON file does not pay for the others.
"""

import re
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from conformance.documents import BOUNDS, parse_json
from conformance.errors import InvalidDocument, Unrecognized
from conformance.formats.compression import BROTLI, ZSTD, OpenFile, open_file, plain_name, unpack_file
from conformance.formats.encodings import MARK, as_utf8, is_wide
from conformance.formats.inputs import ACCEPTED, KINDS, Input
from conformance.wire.plain import is_event_stream

if TYPE_CHECKING:
    from conformance.formats.blocks import LineBlock
    from conformance.formats.jsonl import Line

__all__ = ["KINDS", "Input", "read", "read_block", "read_path", "read_path_in_blocks"]

_T = TypeVar("_T")
Reader: TypeAlias = Callable[[bytes, str], Iterator[Input]]

_LINES: Final = (".jsonl", ".ndjson")
_TABLES: Final = (".csv", ".tsv")
_OPENINGS: Final = (b"{", b"[")
_CASSETTE: Final = (b"interactions:", b"http_interactions:")
_PARQUET: Final = b"PAR1"
_DATABASE: Final = b"SQLite format 3\0"
_BINARY: Final = {
    "parquet": re.compile(_PARQUET),
    "httprr": re.compile(rb"httprr trace v1"),
    "mitmproxy": re.compile(rb"[0-9]{1,12}:[0-9]{1,3}:[a-z_]{1,40};"),
}
"""By format: the first bytes of its files."""
_CURL: Final = re.compile(rb"\AHTTP/[0-9.]+ [1-5][0-9]{2}|^< HTTP/[0-9.]+ [1-5][0-9]{2}", re.MULTILINE)
_HTTPMOCK: Final = re.compile(rb"\A(?:---[^\n]*\n)?when:[ \t]*\r?\n")
_PRINTED: Final = re.compile(rb"\[(?:log_\w|[0-9]{2,4}[-:/]|[A-Z]{3,8}\b|[a-z]{3,8}\] )")
"""How a text log begins that looks like JSON: `[2026-…`, `[INFO] …`."""
_HEAD: Final = 1 << 13
_KEPT: Final = 1 << 18
"""How much of a text of no known form is kept, to look for an error in it."""


def read(data: bytes, name: str) -> Iterator[Input]:
    """Yield the inputs in the content of a file; `name` is its name in errors.

    Raises InvalidDocument if the file as a whole cannot be read or recognized. An error in one line or interaction is
    an input with a problem instead, and the others follow.
    """
    data = unpack_file(_bounded(data, name), name)
    data = _bounded(data, name)
    # The standard of event streams allows a byte order mark.
    data, note = (data, "") if _is_stream(data) or data.startswith(_PARQUET) else as_utf8(data, name)
    yield from _noted(_reader(data.lstrip(), name)(data, name), note, name)


def read_path(path: Path, fields: str = "") -> Iterator[Input]:
    """Yield the inputs of a file; JSON Lines, plain or gzip, and Parquet are read in constant memory.

    `fields`: a map such as `request=payload,session=trace_id`, by which lines of any form are read. Raises
    InvalidDocument as `read` does, if the file cannot be opened, and if a file of another format exceeds the size bound
    of a document, and Unusable for a map that is not one.
    """
    if fields:
        from conformance.formats import mapped

        yield from mapped.read_path(path, mapped.parse(fields))
        return
    yield from _read_path(path, _inputs_of_lines)


def read_path_in_blocks(path: Path) -> "Iterator[LineBlock | Input]":
    """Yield blocks of JSON Lines, each to be read by `read_block` in any process, or the inputs of any other file.

    Together, these are the inputs that `read_path` yields, and the errors are the same.
    """
    yield from _read_path(path, _blocks_of_lines)


def read_block(block: "LineBlock") -> Iterator[Input]:
    """Yield the inputs of a block of JSON Lines."""
    from conformance.formats.jsonl import read_lines

    for given in read_lines(block.lines, block.path, block.seen):
        yield _with_note(given, block.note)
        block = block._replace(note="")


def _read_path(path: Path, of_lines: "Callable[[Iterator[Line], str, str], Iterator[_T]]") -> "Iterator[_T | Input]":
    name = str(path)
    with open_file(path) as file:
        try:
            head = _beginning(file)
            is_parquet = head.startswith(_PARQUET) and isinstance(file.raw, FileIO) and path.is_file()
            is_packed = head.startswith(ZSTD) or name.lower().endswith(BROTLI)
            named = plain_name(name).endswith(_LINES) or _begins_lines(head.removeprefix(MARK).lstrip())
            is_lines = named and not is_wide(head) and not is_packed
            _, note = as_utf8(file.read(len(MARK)), name) if is_lines and head.startswith(MARK) else (b"", "")
            is_database = head.startswith(_DATABASE) and path.is_file()
            data = b"" if is_lines or is_parquet or is_database else file.read(BOUNDS.bytes + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidDocument(f"cannot be read: {error}", name) from None
        if is_lines:
            from conformance.formats import sessions
            from conformance.formats.jsonl import split_lines

            session, lines = sessions.of_lines(split_lines(file, name), name, head)
            yield from of_lines(lines, name, note) if session is None else _noted(session, note, name)
        elif is_database:
            from conformance.formats.sessions import read_database

            yield from read_database(path)
        elif is_parquet:
            from conformance.formats.parquet import read_path as read_parquet

            yield from _noted(read_parquet(path), "", name)
        else:
            yield from read(data, name)


def _inputs_of_lines(lines: "Iterator[Line]", name: str, note: str) -> Iterator[Input]:
    from conformance.formats.jsonl import read_lines

    return _noted(read_lines(lines, name), note, name)


def _blocks_of_lines(lines: "Iterator[Line]", name: str, note: str) -> "Iterator[LineBlock | Input]":
    from conformance.formats.blocks import split

    empty = True
    for each in split(lines, name):
        given = note if empty else ""
        yield _with_note(each, given) if isinstance(each, Input) else each._replace(note=given)
        empty = False
    if empty:
        raise _without_inputs(name)


def _reader(data: bytes, name: str) -> Reader:
    """Return the reader of a file; `data` begins with its first character that is not white space."""
    known_as = plain_name(name)
    if not data:
        raise InvalidDocument(f"{ACCEPTED}; got an empty file", name, 1)
    if known_as.endswith(_LINES) or _begins_lines(data):
        from conformance.formats.jsonl import read as reader
    elif data.startswith(_OPENINGS) and not _PRINTED.match(data):
        from conformance.formats.json import read as reader
    elif binary := next((each for each, begin in _BINARY.items() if begin.match(data)), ""):
        reader = import_module(f"{__name__}.{binary}").read
    elif _is_stream(data) or known_as.endswith(".sse"):
        from conformance.formats.sse import read as reader
    elif _CURL.search(data[:_HEAD]):
        from conformance.formats.curl import read as reader
    elif known_as.endswith((".json", ".har")) and not _PRINTED.match(data):
        from conformance.formats.json import read as reader
    elif _HTTPMOCK.search(data[:_HEAD]) and b"\nthen:" in data:
        from conformance.formats.httpmock import read as reader
    elif known_as.endswith((".yaml", ".yml")) or _has_line(data[:_HEAD], _CASSETTE):
        from conformance.formats.vcr import read as reader
    else:
        return _reader_of_text(data, name)
    return reader


def _reader_of_text(data: bytes, name: str) -> Reader:
    """Return the reader of a text of no format that its beginning or its name shows."""
    from conformance.formats import inside, printed, sse
    from conformance.formats.hints import for_text, is_binary

    if plain_name(name).endswith(_TABLES):
        from conformance.formats import delimited

        return delimited.read
    if printed.holds(data):
        return printed.read
    if sse.is_logged(data[:_HEAD]):
        return sse.read_logged
    # A log may quote a value whole, so that its own quotes have backslashes before them.
    for text in (data, data.replace(b'\\"', b'"')) if not is_binary(data) else ():
        if found := list(inside.of_text(text, name)):
            return lambda _data, _path: iter(found)
    begins = f"text that begins with {data[:40].decode(errors='replace')!r}"
    got = f"bytes that begin with {data[:8].hex(' ')}" if is_binary(data) else begins
    error = Unrecognized(f"{ACCEPTED}; got {got}{for_text(data, name)}", name, 1)
    error.content = b"" if is_binary(data) else data[:_KEPT]
    raise error


def _beginning(file: OpenFile) -> bytes:
    """Return the first bytes of a file, none if they are damaged; then its name decides, and reading it says why."""
    try:
        return file.peek(_HEAD)
    except (OSError, EOFError, zlib.error):
        return b""


def _noted(inputs: Iterator[Input], note: str, name: str) -> Iterator[Input]:
    """Yield inputs, the first of them with a note on the whole file, if there is one.

    Raises Unrecognized if there are none: no file may be passed over in silence.
    """
    empty = True
    for given in inputs:
        yield _with_note(given, note)
        note, empty = "", False
    if empty:
        raise _without_inputs(name)


def _with_note(given: Input, note: str) -> Input:
    return given._replace(notes=(note, *given.notes)) if note else given


def _without_inputs(name: str) -> Unrecognized:
    return Unrecognized(f"{ACCEPTED}; got a file without any of them", name, 1)


def _is_stream(data: bytes) -> bool:
    return is_event_stream(data[:_HEAD].decode("utf-8", "replace"))


def _begins_lines(data: bytes) -> bool:
    """Return whether data look like JSON Lines: the first line is a complete value, and more lines follow."""
    first, _, rest = data.partition(b"\n")
    if not first.startswith((b"{", b"[")) or not rest or rest.isspace():
        return False
    try:
        parse_json(first)
    except InvalidDocument:
        return False
    return True


def _bounded(data: bytes, name: str) -> bytes:
    if len(data) > BOUNDS.bytes:
        raise InvalidDocument(f"expected at most {BOUNDS.bytes} bytes, got more", name)
    return data


def _has_line(data: bytes, beginnings: tuple[bytes, ...]) -> bool:
    return any(line.startswith(beginnings) for line in data.splitlines())
