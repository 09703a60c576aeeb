"""The connections of clients to the proxy: what they may send, how long they may take, and how an error looks."""

from collections.abc import Mapping
from typing import Any, Final

import orjson
from aiohttp import web

from conformance.transport.deadlines import TimedConnection
from conformance.transport.http import PeerBounds

MAX_LINE: Final = 64 * 1024
"""Bytes of a request line or of one header."""

MAX_HEADERS: Final = 512

BOUNDS: Final = PeerBounds(body_seconds=300, reply_seconds=300, idle_seconds=600)
"""What a client can take. It may stand at a breakpoint while a reply comes, and must not lose it for that."""

_MARK: Final = {"x-conformance-proxy": "error", "content-type": "application/json"}
"""The headers of what the proxy itself answers, which tell it from what a provider answers."""


class NotPassed(Exception):
    """A request that the proxy answers itself."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message


class TapConnection(TimedConnection):
    """A connection of a client; what it sends that is not HTTP gets an error in JSON."""

    __slots__ = ("_bounds",)

    def __init__(self, server: web.Server, bounds: PeerBounds) -> None:
        lengths = {"max_line_size": MAX_LINE, "max_field_size": MAX_LINE, "max_headers": MAX_HEADERS}
        super().__init__(server, bounds.head_seconds, keepalive_timeout=bounds.idle_seconds, **lengths)
        self._bounds = bounds

    def pause_writing(self) -> None:
        """Begin to wait for a client that does not read."""
        super().pause_writing()
        self.awaits(self._bounds.reply_seconds, self.abort)

    def resume_writing(self) -> None:
        """Note that the client reads again."""
        super().resume_writing()
        self.awaits_nothing()

    def late_head(self, message: str) -> tuple[Mapping[str, str], bytes]:
        """Return the headers and the body of the error for a head that comes too slowly, as the proxy's own."""
        return _MARK, _error(message)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return the error for what aiohttp cannot read, in JSON; a fault of the proxy itself is logged, and a 502."""
        if status >= 500:
            super().handle_error(request, status, exc, message)
            return own_reply(502, "conformance proxy: an error of the proxy itself; its log says which")
        self.note_answer()
        return own_reply(status, f"the request cannot be read: {(message or '').partition(chr(10))[0]:.200}")

    def log_exception(self, *arguments: object, **keywords: Any) -> None:
        """Log what an answer raised; that a body comes too slowly is the client's, and answered."""
        if not isinstance(keywords.get("exc_info"), NotPassed):
            super().log_exception(*arguments, **keywords)


def own_reply(status: int, message: str) -> web.Response:
    """Return an answer of the proxy itself; the connection ends with it, since the request may not be read."""
    response = web.Response(status=status, body=_error(message), headers=_MARK)
    response.force_close()
    return response


def _error(message: str) -> bytes:
    return orjson.dumps({"error": {"message": message, "type": "proxy_error", "param": None, "code": None}})
