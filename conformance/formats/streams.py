"""Files opened for reading, through gzip where their first bytes say so."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from conformance.errors import InvalidDocument

if TYPE_CHECKING:
    from gzip import GzipFile

Stream: TypeAlias = "BufferedReader[FileIO] | GzipFile"

GZIP: Final = b"\x1f\x8b"
PIECE: Final = 1 << 16
"""How many bytes are fetched at once."""


@contextmanager
def open_stream(path: Path) -> Iterator[Stream]:
    """Open a file for reading, through gzip where its first bytes say so; raises InvalidDocument where it cannot be."""
    try:
        raw = BufferedReader(FileIO(path), PIECE)
        packed = raw.peek(len(GZIP)).startswith(GZIP)
    except OSError as error:
        raise InvalidDocument(f"cannot be read: {error.strerror}", str(path)) from None
    with raw:
        if not packed:
            yield raw
            return
        # Imported here because few files are packed.
        import gzip

        with gzip.GzipFile(fileobj=raw) as unpacked:
            yield unpacked
