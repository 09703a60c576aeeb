"""What an agent has not merged into its database of SQLite yet: the pages in the write-ahead log beside it.

Agents end without closing their database, so the whole of a first session may be in the log. SQLite itself reads it
only where it may write beside it, so the two are joined in memory, up to the last transaction that is complete.

Source: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
"""

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from conformance.documents import BOUNDS

_MAX_BYTES: Final = 4 * BOUNDS.bytes
_TRIES: Final = 3
_HEAD: Final = struct.Struct(">8I")
_FRAME: Final = struct.Struct(">6I")
_ORDERS: Final = {0x377F0682: "<", 0x377F0683: ">"}
"""By the first number of a log: the order of bytes for its checksums."""
_VERSION: Final = 3_007_000
_PAGE_SIZES: Final = frozenset(1 << power for power in range(9, 17))
_SUMMED_HEAD: Final = 24
_SUMMED_FRAME: Final = 8
_MODES: Final = slice(18, 20)
_NO_LOG: Final = b"\1\1"
_WORD: Final = 1 << 32


class _Pages(NamedTuple):
    """The pages of a log: the bytes of one, how many the database has, and where in the log each begins by number."""

    size: int
    total: int
    places: Mapping[int, int]


def beside(path: Path) -> Path | None:
    """Return the log of a database; None if it has none, or an empty one."""
    log = path.with_name(f"{path.name}-wal")
    return log if log.is_file() and log.stat().st_size else None


def merged(path: Path, log: Path) -> bytes | None:
    """Return a database with the pages of its log; None if both are too large, or keep changing. Raises OSError."""
    for _ in range(_TRIES):
        if path.stat().st_size + log.stat().st_size > _MAX_BYTES:
            return None
        with log.open("rb") as stream:
            head = stream.read(_HEAD.size)
        data = bytearray(path.read_bytes())
        pages = log.read_bytes()
        # The agent began a new log in the meantime, so the database that was read is older than the pages.
        if pages[: _HEAD.size] == head:
            return _joined(data, pages)
    return None


def _joined(data: bytearray, log: bytes) -> bytes | None:
    found = _committed(log)
    if found.places:
        length = found.total * found.size
        if length > _MAX_BYTES:
            return None
        data = data[:length].ljust(length, b"\0")
        for number, at in found.places.items():
            if 0 < number <= found.total:
                data[(number - 1) * found.size : number * found.size] = log[at : at + found.size]
    data[_MODES] = _NO_LOG
    return bytes(data)


def _committed(log: bytes) -> _Pages:
    """Return the pages of the transactions that are complete; what follows is left of an earlier log."""
    none = _Pages(0, 0, {})
    if len(log) < _HEAD.size:
        return none
    magic, version, size, _, *rest = _HEAD.unpack_from(log)
    salts, sums = rest[:2], _checksum(_ORDERS.get(magic, "<"), log[:_SUMMED_HEAD], (0, 0))
    if magic not in _ORDERS or version != _VERSION or size not in _PAGE_SIZES or list(sums) != rest[2:]:
        return none
    count, committed, pending = 0, dict[int, int](), dict[int, int]()
    for at in range(_HEAD.size, len(log) - _FRAME.size - size + 1, _FRAME.size + size):
        number, pages, *rest = _FRAME.unpack_from(log, at)
        begin = at + _FRAME.size
        sums = _checksum(_ORDERS[magic], log[at : at + _SUMMED_FRAME] + log[begin : begin + size], sums)
        if rest != [*salts, *sums]:
            break
        pending[number] = begin
        if pages:
            count, committed, pending = pages, {**committed, **pending}, {}
    return _Pages(size, count, committed)


def _checksum(order: str, data: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    """Return the checksum of data after that of what came before."""
    first, second = sums
    words = iter(struct.unpack(f"{order}{len(data) // 4}I", data))
    for word, following in zip(words, words, strict=True):
        first = (first + word + second) % _WORD
        second = (second + following + first) % _WORD
    return first, second
