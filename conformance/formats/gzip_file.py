"""Files that are read through gzip, within bounds: a few megabytes of it may stand for gigabytes.

The gzip module reads ahead, and so cannot say how much of a file stands for what it has unpacked.
"""

import time
import zlib
from collections.abc import Callable
from io import BufferedIOBase, RawIOBase
from typing import TYPE_CHECKING, Final

from conformance.errors import InvalidDocument

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_LEAST: Final = 1024 * 1024
"""Up to how many bytes nothing is refused."""
_RATIO: Final = 500
"""How many bytes one may stand for: more is only reached by what repeats itself within 16 bytes (RFC 1951)."""
_UNUSUAL: Final = 100
_SECONDS: Final = 60.0
"""How long a file may be read in which a byte stands for so many: even equal lines of a log reach only 300."""
_PIECE: Final = 1 << 14
_HEADER: Final = 31
"""Makes zlib accept the header of gzip, and check its sum."""


class UnpackedFile(RawIOBase):
    """The content of a gzip file; reading raises InvalidDocument if it unpacks to far more than any log does."""

    def __init__(self, packed: BufferedIOBase, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._packed, self._path, self._clock, self._begun = packed, path, clock, clock()
        self._unpacker, self._rest = zlib.decompressobj(_HEADER), b""
        self._taken = self._given = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Unpack what fits into a buffer; raises EOFError for truncated data, and zlib.error for damaged."""
        view = memoryview(buffer).cast("B")
        while not self._unpacker.eof or self._begins_another():
            before = len(self._rest)
            data = self._unpacker.decompress(self._rest, len(view))
            self._rest = self._unpacker.unused_data if self._unpacker.eof else self._unpacker.unconsumed_tail
            self._taken += before - len(self._rest)
            self._given += len(data)
            self._check()
            if data:
                view[: len(data)] = data
                return len(data)
            if not self._rest and not self._unpacker.eof:
                self._rest = self._packed.read(_PIECE)
                if not self._rest:
                    raise EOFError("the gzip data are truncated")
        return 0

    def _begins_another(self) -> bool:
        """Return whether another member follows; a file may have several, and zeros after the last one."""
        self._rest = self._rest.lstrip(b"\0")
        while not self._rest:
            piece = self._packed.read(_PIECE)
            if not piece:
                return False
            self._rest = piece.lstrip(b"\0")
        self._unpacker = zlib.decompressobj(_HEADER)
        return True

    def _check(self) -> None:
        if self._given > _LEAST and self._given > _UNUSUAL * self._taken:
            late = self._clock() - self._begun > _SECONDS
            if late or self._given > _RATIO * self._taken:
                ratio = f"{self._taken:,} bytes unpack to {self._given:,}"
                raise InvalidDocument(f"{ratio}, and what follows is not read{' after a minute' * late}", self._path)
