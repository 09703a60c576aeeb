"""Gzip, zstd and brotli: files opened through gzip if they are packed so, and data unpacked within the size bound.

Gzip and zstd data say what they are in their first bytes; brotli data do not, so only a header or the name of a file
can name them.
"""

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from conformance.documents import BOUNDS
from conformance.errors import InvalidDocument

if TYPE_CHECKING:
    from conformance.formats.gzip_file import UnpackedFile

OpenFile: TypeAlias = "BufferedReader[FileIO] | BufferedReader[UnpackedFile]"

GZIP: Final = b"\x1f\x8b"
ZSTD: Final = b"\x28\xb5\x2f\xfd"
BLOCK: Final = 1 << 16
"""How many bytes are read at once."""
BROTLI: Final = ".br"
"""The suffix of a file that is packed with brotli."""
_SUFFIXES: Final = (".gz", ".zst", BROTLI)
_ANY_HEADER: Final = 47
"""Makes zlib accept the header of gzip as well as its own."""
_PADDING: Final = re.compile(rb"\0*")
_FIRST_PIECE: Final = 32
"""How much is unpacked first. What follows the end of the data is copied, so pieces grow only with what was read."""
_PIECE: Final = 1 << 10
"""How much zstd data is unpacked at once: a few bytes of it may stand for 128 KiB."""
_MISSING: Final = "is packed with {0}, which needs a library: pip install 'wire-conformance[{1}]'"


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
        from conformance.formats.gzip_file import UnpackedFile

        with BufferedReader(UnpackedFile(raw, str(path)), BLOCK) as unpacked:
            yield unpacked


def unzip(data: bytes, file: str) -> bytes:
    """Return the content of gzip or zlib data, within the size bound of a document."""
    result, at, view = bytearray(), 0, memoryview(data)
    while at < len(data):
        unpacker, size = zlib.decompressobj(_ANY_HEADER), _FIRST_PIECE
        while at < len(data) and not unpacker.eof:
            piece = view[at : at + size]
            try:
                result += unpacker.decompress(piece, BOUNDS.bytes + 1 - len(result))
            except zlib.error as error:
                raise InvalidDocument(f"expected gzip data, got: {error}", file) from None
            _check_bound(result, file)
            at += len(piece) - len(unpacker.unused_data)
            size = min(2 * size, BLOCK)
        if not unpacker.eof:
            raise InvalidDocument("expected complete gzip data, got truncated data", file)
        padding = _PADDING.match(data, at)
        at = padding.end() if padding else at
    return bytes(result)


def unpack(data: bytes, file: str) -> bytes:
    """Return the content of gzip or zstd data, and other data as they are."""
    if data.startswith(GZIP):
        return unzip(data, file)
    return _unzstd(data, file) if data.startswith(ZSTD) else data


def unpack_file(data: bytes, name: str) -> bytes:
    """Return the content of a file that is packed with gzip or zstd, or with brotli by its name; else the data."""
    return _unbrotli(data, name) if name.lower().endswith(BROTLI) else unpack(data, name)


def plain_name(name: str) -> str:
    """Return the name of a file in lower case, without the suffix that says how it is packed."""
    lower = name.lower()
    suffix = next((each for each in _SUFFIXES if lower.endswith(each)), "")
    return lower.removesuffix(suffix)


def unpack_body(data: bytes, coding: str, file: str) -> bytes:
    """Return a body without the content coding that its header names.

    Recorders often store the decoded body with the old header, so a body that is text already stays as it is.
    """
    unpacked = unpack(data, file)
    if unpacked is not data or not coding or _is_text(data):
        return unpacked
    if "br" in coding:
        return _unbrotli(data, file)
    return unzip(data, file) if "deflate" in coding else data


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _unzstd(data: bytes, file: str) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise InvalidDocument(_MISSING.format("zstd", "zstandard"), file) from None
    result, at = bytearray(), 0
    try:
        while at < len(data):
            unpacker, size = zstandard.ZstdDecompressor().decompressobj(), _FIRST_PIECE
            while at < len(data) and not unpacker.eof:
                piece = data[at : at + size]
                result += unpacker.decompress(piece)
                at += len(piece) - len(unpacker.unused_data)
                size = min(2 * size, _PIECE)
                _check_bound(result, file)
            if not unpacker.eof:
                raise InvalidDocument("expected complete zstd data, got truncated data", file)
    except zstandard.ZstdError as error:
        raise InvalidDocument(f"expected zstd data, got: {error}", file) from None
    return bytes(result)


def _unbrotli(data: bytes, file: str) -> bytes:
    try:
        import brotli
    except ImportError:
        raise InvalidDocument(_MISSING.format("brotli", "brotli"), file) from None
    unpacker = brotli.Decompressor()
    try:
        result: bytes = unpacker.process(data, output_buffer_limit=BOUNDS.bytes + 1)
    except brotli.error as error:
        raise InvalidDocument(f"expected brotli data, got: {error}", file) from None
    if len(result) <= BOUNDS.bytes and not unpacker.is_finished():
        raise InvalidDocument("expected complete brotli data, got truncated data", file)
    _check_bound(result, file)
    return result


def _check_bound(data: bytes | bytearray, file: str) -> None:
    if len(data) > BOUNDS.bytes:
        raise InvalidDocument(f"expected at most {BOUNDS.bytes} bytes after decompression, got more", file)
