"""Copies of exchanges: what the proxy hands to the process that checks them, and how they cross the pipe between both.

A copy holds the bytes that were passed. What a process may hold of them is bounded; beyond a bound a copy is given up,
and the traffic goes on.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, NamedTuple

import orjson

from conformance.proxy.repeats import RepeatedBodies
from conformance.transport.http import Headers

MAX_EXCHANGE: Final = 16 * 1024 * 1024
"""Bytes of a request and its reply that a copy holds; a longer exchange is passed and not checked."""

MAX_HELD: Final = 128 * 1024 * 1024
"""Bytes that all copies together hold, of exchanges under way and of those that wait to be checked."""

_REPEATS: Final = "repeats"

# Four bytes each are enough: a copy is bounded far below 4 GiB.
_LENGTHS: Final = struct.Struct("!III")


@dataclass(frozen=True, slots=True)
class Copy:
    """One exchange as it passed the proxy.

    `tap`: the number of the listening point. `url`: where the request went. `cut`: in words, how the reply is not
    whole; empty if it is. `lost`: why the copy cannot be checked, empty if it can; then the bodies may be missing.
    `missing`: what of the request or the reply did not pass, in words.
    """

    tap: int
    method: str
    url: str
    sent_headers: Headers = field(repr=False)
    sent: bytes = field(repr=False)
    status: int = 0
    reason: str = ""
    headers: Headers = ()
    received: bytes = b""
    cut: str = ""
    lost: str = ""
    missing: tuple[str, ...] = ()

    def frame(self, held: RepeatedBodies | None = None) -> tuple[bytes, ...]:
        """Return the copy as it crosses the pipe, in parts, because its bodies may be large.

        `held`: the bodies that crossed before; what the request has in common with one does not cross again.
        """
        number, same = (0, 0) if held is None else held.divide(self.sent)
        head = {
            "tap": self.tap,
            "method": self.method,
            "url": self.url,
            "sent_headers": self.sent_headers,
            "status": self.status,
            "reason": self.reason,
            "headers": self.headers,
            "cut": self.cut,
            "lost": self.lost,
            "missing": self.missing,
        }
        if same:
            return frame_parts("copy", head | {_REPEATS: (number, same)}, self.sent[same:], self.received)
        return frame_parts("copy", head, self.sent, self.received)


class Frame(NamedTuple):
    """What crosses the pipe: its kind, a JSON object, and two byte strings."""

    kind: str
    value: Mapping[str, Any]
    first: bytes
    second: bytes

    def copy(self) -> Copy:
        """Return the copy that a frame of the kind `copy` holds."""
        headers = {name: [(key, text) for key, text in self.value[name]] for name in ("sent_headers", "headers")}
        # JSON has made lists of tuples.
        held = {**self.value, **headers, "missing": tuple(self.value["missing"])}
        return Copy(**held, sent=self.first, received=self.second)


def frame(kind: str, value: Mapping[str, Any], first: bytes = b"", second: bytes = b"") -> bytes:
    """Return a frame: three lengths, a JSON array of the kind and the value, and two byte strings."""
    return b"".join(frame_parts(kind, value, first, second))


def frame_parts(kind: str, value: Mapping[str, Any], first: bytes = b"", second: bytes = b"") -> tuple[bytes, ...]:
    """Return the parts of a frame."""
    head = _encoded([kind, value])
    return _LENGTHS.pack(len(head), len(first), len(second)) + head, first, second


def _encoded(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        # Bytes of a header that are not UTF-8 are surrogates in its text.
        return orjson.dumps(_clean(value))


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {key: _clean(each) for key, each in value.items()}
    return [_clean(each) for each in value] if isinstance(value, (list, tuple)) else value


def read_frame(stream: BinaryIO, held: RepeatedBodies | None = None) -> Frame | None:
    """Return the next frame; None at the end of the stream, also if a frame is not whole.

    `held`: the bodies that crossed before, if some are not sent again.
    """
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    sizes = _LENGTHS.unpack(lengths)
    parts = [stream.read(size) for size in sizes]
    if any(len(part) < size for part, size in zip(parts, sizes, strict=True)):
        return None
    kind, value = orjson.loads(parts[0])
    first = parts[1]
    if held is not None and kind == "copy":
        if _REPEATS in value:
            number, same = value.pop(_REPEATS)
            first = held.restore(number, same, first)
        held.keep(first)
    return Frame(kind, value, first, parts[2])
