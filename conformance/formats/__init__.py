"""Files to conversations: the format of a file is recognized by its content first, by its name second.

The formats are imported when they are needed: a small JSON file does not pay for the others.
"""

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from conformance.documents import BOUNDS, parse_json
from conformance.errors import InvalidDocument, Unrecognized
from conformance.formats.compression import GZIP, open_file, unzip
from conformance.formats.inputs import ACCEPTED, KINDS, Input
from conformance.wire.plain import is_event_stream

__all__ = ["KINDS", "Input", "read", "read_path"]

Reader: TypeAlias = Callable[[bytes, str], Iterator[Input]]

_LINES: Final = (".jsonl", ".ndjson")
_OPENINGS: Final = (b"{", b"[", b"\xef\xbb\xbf{", b"\xef\xbb\xbf[")
_CASSETTE: Final = (b"interactions:", b"http_interactions:")
_TRACE: Final = b"httprr trace v1"
_HEAD: Final = 1 << 13


def read(data: bytes, name: str) -> Iterator[Input]:
    """Yield the inputs in the content of a file; `name` is its name in errors.

    Raises InvalidDocument if the file as a whole cannot be read or recognized. An error in one line or interaction is
    an input with a problem instead, and the others follow.
    """
    if data.startswith(GZIP):
        data = unzip(data, name)
    if len(data) > BOUNDS.bytes:
        raise InvalidDocument(f"expected at most {BOUNDS.bytes} bytes, got more", name)
    yield from _reader(data.lstrip(), name)(data, name)


def read_path(path: Path) -> Iterator[Input]:
    """Yield the inputs of a file, plain or gzip; JSON Lines are read in constant memory, whatever their size.

    Raises InvalidDocument as `read` does, if the file cannot be opened, and if a file that is not JSON Lines exceeds
    the size bound of a document.
    """
    name = str(path)
    with open_file(path) as file:
        try:
            is_lines = _plain_name(name).endswith(_LINES) or _begins_lines(file.peek(_HEAD).lstrip())
            data = b"" if is_lines else file.read(BOUNDS.bytes + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidDocument(f"cannot be read: {error}", name) from None
        if is_lines:
            from conformance.formats.jsonl import read_lines, split_lines

            yield from read_lines(split_lines(file, name), name)
        else:
            yield from read(data, name)


def _reader(data: bytes, name: str) -> Reader:
    """Return the reader of a file; `data` begins with its first character that is not white space."""
    known_as = _plain_name(name)
    if not data:
        raise InvalidDocument(f"{ACCEPTED}; got an empty file", name, 1)
    if known_as.endswith(_LINES) or _begins_lines(data):
        from conformance.formats.jsonl import read as reader
    elif data.startswith(_OPENINGS):
        from conformance.formats.json import read as reader
    elif data.startswith(_TRACE):
        from conformance.formats.httprr import read as reader
    elif is_event_stream(data[:_HEAD].decode("utf-8", "replace")) or known_as.endswith(".sse"):
        from conformance.formats.sse import read as reader
    elif known_as.endswith((".json", ".har")):
        from conformance.formats.json import read as reader
    elif known_as.endswith((".yaml", ".yml")) or _has_line(data[:_HEAD], _CASSETTE):
        from conformance.formats.vcr import read as reader
    else:
        begins = data[:40].decode("utf-8", "replace")
        raise Unrecognized(f"{ACCEPTED}; got text that begins with {begins!r}", name, 1)
    return reader


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


def _has_line(data: bytes, beginnings: tuple[bytes, ...]) -> bool:
    return any(line.startswith(beginnings) for line in data.splitlines())


def _plain_name(name: str) -> str:
    return name.lower().removesuffix(".gz")
