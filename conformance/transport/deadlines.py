"""Connections of clients with deadlines: one that waits too long at one point is ended, by a server or by the proxy.

It is a module of its own because only a process that listens must pay for importing aiohttp.
"""

import asyncio
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, cast

from aiohttp import web

from conformance.transport.http import error_body

_PAUSE: Final = 1.0
"""The longest time in seconds between two looks at all connections."""


class TimedConnection(web.RequestHandler):
    """A connection whose deadlines a loop watches; a timer for each request would cost more."""

    __slots__ = ("_answered", "_due", "_end", "_head_seconds")

    def __init__(self, server: Any, head_seconds: float, **settings: Any) -> None:
        """Prepare a connection that sends the head of a request within so many seconds, once it has begun."""
        loop = asyncio.get_running_loop()
        # Without an access log: it would hold the keys in URLs.
        super().__init__(server, loop=loop, auto_decompress=False, access_log=None, **settings)  # type: ignore[arg-type]
        self._head_seconds = head_seconds
        self._answered = 0
        self._due = math.inf
        self._end: Callable[[], None] = self.abort

    def data_received(self, data: bytes) -> None:
        """Begin to wait for the rest of a head."""
        # Some clients send a line end after a body; it does not begin a request.
        if self._due == math.inf and self.is_idle and data.strip(b"\r\n"):
            self.awaits(self._head_seconds, self._refuse_head)
        super().data_received(data)

    def awaits(self, seconds: float, end: Callable[[], None]) -> None:
        """Note what to do if the connection is still at this point after so many seconds."""
        self._due, self._end = self._loop.time() + seconds, end

    def awaits_nothing(self) -> None:
        """Note that nothing is awaited from the peer now."""
        self._due = math.inf

    def end_if_slow(self, now: float) -> None:
        """End what has waited too long."""
        if now >= self._due:
            self._due = math.inf
            self._end()

    def note_answer(self) -> None:
        """Note that a request was answered."""
        self.awaits_nothing()
        self._answered += 1

    def abort(self) -> None:
        """Disconnect, and drop what is not sent yet."""
        if self.transport is not None:
            self.transport.abort()

    @property
    def is_idle(self) -> bool:
        """Return True if each request whose head was read is answered."""
        return self._request_count == self._answered

    def log_refusal(self, status: int, text: str) -> None:
        """Log that the peer was refused with a status, or disconnected with 0; by default, nothing is logged."""

    def late_head(self, message: str) -> tuple[Mapping[str, str], bytes]:
        """Return the headers and the body of the error for a head that comes too slowly."""
        return {"content-type": "application/json"}, error_body(message)

    def _refuse_head(self) -> None:
        """End a connection that sends no whole head."""
        if self.transport is None or not self.is_idle:
            return
        text = f"expected the head of a request within {self._head_seconds:g} seconds"
        self.log_refusal(408, text)
        headers, body = self.late_head(text)
        given = {**headers, "content-length": str(len(body)), "connection": "close"}
        lines = ["HTTP/1.1 408 Request Timeout", *[f"{name}: {value}" for name, value in given.items()], "", ""]
        self.transport.write("\r\n".join(lines).encode() + body)
        self.force_close()


async def end_slow_connections(connections: Callable[[], Iterable[Any]], *bounds: float) -> None:
    """Look again and again for connections that have waited too long; `bounds` are the seconds that they may wait."""
    loop = asyncio.get_running_loop()
    pause = min(_PAUSE, *[each / 4 for each in bounds])
    while True:
        await asyncio.sleep(pause)
        now = loop.time()
        for connection in connections():
            cast(TimedConnection, connection).end_if_slow(now)
