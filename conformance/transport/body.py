"""Bodies of replies: read and unpacked within bounds, whatever the peer sends."""

import time
import zlib
from collections import deque
from typing import Final, NamedTuple

import httpx

MAX_REPLY: Final = 8 * 1024 * 1024
"""Bytes of a reply that are read, before and after unpacking; of a longer one only the head is kept.

Runs ask for at most 8,192 tokens, which stream as some 4 MB; what is read is held, parsed and judged many times over.
"""

MAX_RATIO: Final = 200
"""How many times its packed size a body may have; text packs to a tenth, a thousandth is made up."""

RATIO_APPLIES_FROM: Final = 1024 * 1024
"""Bytes of an unpacked body from which its ratio counts: short bodies of one repeated word are harmless."""

MAX_LINES: Final = 80_000
"""Line ends of a body that is judged: an event of a stream has two to four, and 8,192 tokens some 33,000 at most."""

MAX_COMMAS: Final = 160_000
"""Commas of a body that is judged, and so values in it: a chunk of a stream has 8 to 16, 8,192 tokens have 131,000."""

HEAD: Final = 64 * 1024
"""Bytes that are kept of a body that exceeds a bound."""

ACCEPTED_ENCODINGS: Final = "gzip, deflate"
"""The header `accept-encoding` of requests."""

FLOOR_SECONDS: Final = 20.0
FLOOR_BYTES: Final = 200
FLOOR_READS: Final = 8
"""A body ends as too slow if so many reads within so many seconds bring fewer bytes: a word of a stream has that many.

A pause is not slow, since models think; nor are comments, empty lines and pings, with which servers bridge one.
"""

_BLOCK: Final = 64 * 1024
_ANY_HEADER: Final = 47
"""Makes zlib accept the header of gzip as well as its own."""
_MAGIC: Final = 2
"""How many bytes show the header of packed data."""
_MAX_LENGTH_DIGITS: Final = 18


class Content(NamedTuple):
    """The body of a reply; `cut` says in words how it is not whole, and is empty if it is."""

    data: bytes
    cut: str = ""


class TooSlow(Exception):
    """A body drips: the rest would take longer than anyone waits; the message continues the URL of a request."""


class _Exceeded(Exception):
    """A body exceeds a bound; the message says which."""


async def read(reply: httpx.Response) -> Content:
    """Return the body of a reply whose headers have arrived; no more of it is kept than the bounds allow.

    Raises TooSlow for a body that drips; nothing else that a peer sends raises.
    """
    encoding = reply.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        return Content(b"", f"one encoded as {encoding[:40]!r}, which the request does not accept")
    unpacker = None if encoding in ("", "identity") else _Unpacker(encoding)
    data = bytearray()
    received, broken, pace = 0, "", _Pace()
    try:
        async for chunk in reply.aiter_raw():
            received += len(chunk)
            pace.add(chunk)
            if received > MAX_REPLY:
                raise _Exceeded(f"more than {MAX_REPLY:,} bytes")
            if unpacker is None:
                data += chunk
            else:
                unpacker.unpack(chunk, data, received)
    except _Exceeded as error:
        return Content(bytes(data[:HEAD]), str(error))
    except zlib.error as error:
        broken = f"{encoding} data that cannot be unpacked ({error})"
    except (httpx.TransportError, OSError) as error:
        # The connection ended early; what arrived is the evidence of a cut reply.
        broken = _shorter(reply, received) or f"one that ended early, after {received:,} bytes ({words(error)})"
    if unpacker is not None and not unpacker.finish(data):
        broken = broken or f"{encoding} data that ended early, after {received:,} bytes"
    if excess := _excess(data):
        return Content(bytes(data[:HEAD]), excess)
    return Content(bytes(data), broken)


def _excess(data: bytearray) -> str:
    """Return in words how a body has too many small parts, each of which costs many times its bytes to judge."""
    if data.count(b"\n") + data.count(b"\r") > MAX_LINES:
        return f"more than {MAX_LINES:,} lines"
    return f"more than {MAX_COMMAS:,} values" if data.count(b",") > MAX_COMMAS else ""


def words(error: Exception) -> str:
    """Return in words how a connection or its HTTP broke."""
    if "SWITCH_" in str(error):
        return "it switches protocols (HTTP 101), which the request does not ask for"
    return str(error) or "the connection broke"


def _shorter(reply: httpx.Response, received: int) -> str:
    """Return in words how a body is shorter than its headers say; empty if they do not say it."""
    length = reply.headers.get("content-length", "")
    declared = int(length) if length.isdecimal() and len(length) <= _MAX_LENGTH_DIGITS else 0
    return f"one that ended after {received:,} of {declared:,} bytes" if received < declared else ""


class _Pace:
    """How fast a body has come lately."""

    def __init__(self) -> None:
        self._began = 0.0
        self._reads: deque[tuple[float, int]] = deque()

    def add(self, chunk: bytes) -> None:
        """Count what was read; raises TooSlow below the floor."""
        if len(chunk) >= FLOOR_BYTES:
            self._reads.clear()
            self._began = 0.0
            return
        text = chunk.strip()
        if not text or text.startswith((b":", b"event: ping")):
            return
        now = time.monotonic()
        self._began = self._began or now
        self._reads.append((now, len(chunk)))
        while now - self._reads[0][0] > FLOOR_SECONDS:
            self._reads.popleft()
        size = sum([size for _, size in self._reads])
        if size >= FLOOR_BYTES:
            # The pace is good again, so a drip would begin here.
            self._reads.clear()
            self._began = 0.0
        elif now - self._began >= FLOOR_SECONDS and len(self._reads) >= FLOOR_READS:
            raise TooSlow(f"sends its reply too slowly: {size} bytes in {FLOOR_SECONDS:g} seconds")


class _Unpacker:
    """Unpacks gzip and deflate block by block, so that a small body cannot become a large one unseen."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._start = b""
        self._zlib: zlib._Decompress | None = None

    def unpack(self, packed: bytes, data: bytearray, received: int) -> None:
        """Append unpacked bytes to the data; raises _Exceeded beyond the bounds and zlib.error for anything else."""
        if self._zlib is None:
            packed = self._start = self._start + packed
            if len(packed) < _MAGIC:
                return
            self._zlib = zlib.decompressobj(self._window())
        while packed:
            if self._zlib.eof:  # Gzip data may have several members, and zeros behind them.
                if not (packed := packed.lstrip(b"\0")):
                    return
                self._zlib = zlib.decompressobj(_ANY_HEADER)
            data += self._zlib.decompress(packed, _BLOCK)
            if len(data) > MAX_REPLY:
                raise _Exceeded(f"more than {MAX_REPLY:,} bytes after unpacking")
            if len(data) > max(RATIO_APPLIES_FROM, received * MAX_RATIO):
                raise _Exceeded(f"{received:,} bytes that unpack to more than {MAX_RATIO} times their size")
            packed = self._zlib.unconsumed_tail or self._zlib.unused_data

    def finish(self, data: bytearray) -> bool:
        """Append the last bytes to the data, and return True if the packed data ended where they say."""
        if self._zlib is None:
            return not self._start
        data += self._zlib.flush()
        return self._zlib.eof

    def _window(self) -> int:
        """Return how zlib reads the data: some servers send `deflate` without the header of zlib."""
        first, second = self._start[:_MAGIC]
        has_header = first & 0x0F == zlib.DEFLATED and (first << 8 | second) % 31 == 0
        return -zlib.MAX_WBITS if self._encoding == "deflate" and not has_header else _ANY_HEADER
