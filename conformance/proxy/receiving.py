"""How replies end: with trailers, the fields behind the last chunk of a body, which aiohttp reads and throws away.

What arrives last on a connection is remembered as bytes. aiohttp has then checked the framing, so that the last line of
the length 0 in it is the end of the body, and what follows are the trailers: no line of theirs can look like that one.
A body whose framing breaks ends, too, for which aiohttp would wait without end.
"""

import asyncio
import re
from functools import partial
from typing import Any, Final, NamedTuple, Self

from aiohttp import ClientPayloadError, ClientResponse, TCPConnector
from aiohttp.client_proto import ResponseHandler

from conformance.proxy.headers import is_of_connection

MAX_TRAILERS: Final = 8 * 1024
"""Bytes of the last chunk and its trailers; longer ones do not pass."""

_MANY: Final = 32
"""How many pieces of a reply are kept apart."""

_LAST_CHUNK: Final = re.compile(rb"(?:^|\n)0+[ \t]*(?:;[^\r\n]*)?\r?\n")
_NO_TRAILERS: Final = b"\r\n0\r\n\r\n"
_FIELD: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[^\x00\r\n]*")


class Trailers(NamedTuple):
    """The lines of the trailers that may pass, and whether there were others."""

    lines: tuple[bytes, ...] = ()
    some_dropped: bool = False


class Ending:
    """The last bytes of a reply."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def add(self, data: bytes) -> None:
        """Remember bytes that have arrived; they are seldom copied, since this is done for each event of a stream."""
        parts = self._parts
        if len(data) >= MAX_TRAILERS:
            parts.clear()
        parts.append(data)
        if len(parts) > _MANY:
            self._parts = [b"".join(parts)[-MAX_TRAILERS:]]

    def trailers(self) -> Trailers:
        """Return the trailers of a chunked body that has ended."""
        last = b"".join(self._parts)[-MAX_TRAILERS:]
        if last.endswith(_NO_TRAILERS):
            return Trailers()
        *_, end = [0, *[found.end() for found in _LAST_CHUNK.finditer(last)]]
        if not end:
            return Trailers(some_dropped=True)
        lines = [line.rstrip(b"\r") for line in last[end:].split(b"\n")]
        given = lines[: lines.index(b"")] if b"" in lines else lines
        passed = [line for line in given if (found := _FIELD.fullmatch(line)) and not is_of_connection(found[1])]
        return Trailers(tuple(passed), len(passed) < len(given))


class UpstreamReply(ClientResponse):
    """A reply that knows its trailers."""

    ending: Ending

    async def start(self, connection: Any) -> Self:
        """Read the head of the reply."""
        self.ending = connection.protocol.ending
        await super().start(connection)
        return self

    def trailers(self) -> Trailers:
        """Return the trailers; the body must have been read to its end."""
        return self.ending.trailers() if "chunked" in self.headers.get("transfer-encoding", "").lower() else Trailers()


class _Receiving(ResponseHandler):
    """A connection to a provider that remembers how each reply ends."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.ending = Ending()

    def set_response_params(self, **settings: Any) -> None:
        """Begin a reply."""
        self.ending = Ending()
        super().set_response_params(**settings)

    def data_received(self, data: bytes) -> None:
        """Take bytes that have arrived."""
        if data:
            self.ending.add(data)
        super().data_received(data)

    def connection_lost(self, exc: BaseException | None) -> None:
        """End a body that the connection leaves open."""
        body = self._payload
        super().connection_lost(exc)
        if body is not None and not body.is_eof() and body.exception() is None:
            body.set_exception(ClientPayloadError("its chunks are not framed as HTTP"))


class Connector(TCPConnector):
    """Connects to providers."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # aiohttp has no public way to name the protocol of its connections.
        self._factory: Any = partial(_Receiving, asyncio.get_running_loop())
