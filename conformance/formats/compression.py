"""Gzip: files opened through it if their first bytes say so, and data unpacked within the size bound."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from conformance.documents import BOUNDS
from conformance.errors import InvalidDocument

if TYPE_CHECKING:
    from gzip import GzipFile

OpenFile: TypeAlias = "BufferedReader[FileIO] | GzipFile"

GZIP: Final = b"\x1f\x8b"
BLOCK: Final = 1 << 16
"""How many bytes are read at once."""
_ANY_HEADER: Final = 47
"""Makes zlib accept the header of gzip as well as its own."""


@contextmanager
def open_file(path: Path) -> Iterator[OpenFile]:
    """Open a file for reading, through gzip if its first bytes say so; raises InvalidDocument if that fails."""
    try:
        raw = BufferedReader(FileIO(path), BLOCK)
        packed = raw.peek(len(GZIP)).startswith(GZIP)
    except OSError as error:
        raise InvalidDocument(f"cannot be read: {error.strerror}", str(path)) from None
    with raw:
        if not packed:
            yield raw
            return
        # Imported here because few files are compressed.
        import gzip

        with gzip.GzipFile(fileobj=raw) as unpacked:
            yield unpacked


def unzip(data: bytes, file: str) -> bytes:
    """Return the content of gzip or zlib data, within the size bound of a document."""
    result = b""
    while data:
        unpacker = zlib.decompressobj(_ANY_HEADER)
        try:
            result += unpacker.decompress(data, BOUNDS.bytes + 1 - len(result))
        except zlib.error as error:
            raise InvalidDocument(f"expected gzip data, got: {error}", file) from None
        if len(result) > BOUNDS.bytes:
            raise InvalidDocument(f"expected at most {BOUNDS.bytes} bytes after decompression, got more", file)
        if not unpacker.eof:
            raise InvalidDocument("expected complete gzip data, got truncated data", file)
        data = unpacker.unused_data.lstrip(b"\0")
    return result
