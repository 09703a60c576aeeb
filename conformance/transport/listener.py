"""The connections of a server: aiohttp on one event loop, with bounds on what a peer can make it wait, keep and do.

It is a module of its own because only a process that listens must pay for importing aiohttp.
"""

import asyncio
import logging
import socket
import sys
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final, cast

from aiohttp import StreamReader, web
from aiohttp.http_exceptions import LineTooLong

from conformance.transport.deadlines import TimedConnection, end_slow_connections
from conformance.transport.http import (
    HttpReply,
    HttpRequest,
    PeerBounds,
    error_reply,
    is_host_served,
    is_origin_served,
)

_LOG: Final = logging.getLogger("conformance.server")
"""What was bounded; requests themselves are never logged, since they may hold secrets."""

_INLINE_BYTES: Final = 16 * 1024
"""Bodies up to this size are answered on the event loop; a thread would cost as much as the answer."""

_SMALL_BYTES: Final = 64 * 1024
"""Bodies up to this size are read at once, however many there are."""

_ANSWERING: Final = 2
"""How many big bodies are answered at once: the interpreter works on one at a time, and each takes memory."""

_STOP_SECONDS: Final = 0.5


class _Refused(Exception):
    """A request that is refused before it is answered."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message


class Listener(web.Server):
    """Passes every request of every connection to one function, and sends what it returns."""

    def __init__(self, answer: Callable[[HttpRequest], HttpReply], host: str, bounds: PeerBounds) -> None:
        super().__init__(self._respond)
        self.bounds = bounds
        self.open = 0
        self.is_full = False
        self._answer, self._host = answer, host
        self._slots = asyncio.Semaphore(bounds.big_bodies)
        self._workers = ThreadPoolExecutor(_ANSWERING, "conformance-answers")

    def __call__(self) -> web.RequestHandler:
        """Return the protocol of a new connection."""
        return _Connection(self)

    def end_workers(self) -> None:
        """Answer nothing more; what is being answered ends by itself."""
        self._workers.shutdown(wait=False, cancel_futures=True)

    async def _respond(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = cast(_Connection, request.protocol)
        response = web.StreamResponse()
        try:
            reply, is_refused = await self._reply(request, connection)
            response = _response(reply)
            if is_refused:
                response.force_close()
            connection.awaits(self.bounds.reply_seconds, connection.drop)
            await response.prepare(request)
            if not isinstance(reply.body, bytes) and request.method != "HEAD":
                await _write(response, reply)
            await response.write_eof()
        except ConnectionError:
            # The client has gone, which is not an error of the server.
            connection.abort()
        finally:
            if connection.end():
                response.force_close()
        return response

    async def _reply(self, request: web.BaseRequest, connection: "_Connection") -> tuple[HttpReply, bool]:
        """Return the reply to a request, and whether the request was refused without asking for one."""
        try:
            self._check_sender(request)
            if self._has_small_body(request):
                return await self._answered(await self._received(request, connection)), False
            async with self._slot_for_big_body():
                return await self._answered(await self._received(request, connection)), False
        except _Refused as refused:
            connection.log_refusal(refused.status, refused.message)
            return error_reply(refused.status, refused.message), True

    async def _answered(self, received: HttpRequest) -> HttpReply:
        if len(received.body) <= _INLINE_BYTES:
            return self._answer(received)
        return await asyncio.get_running_loop().run_in_executor(self._workers, self._answer, received)

    @asynccontextmanager
    async def _slot_for_big_body(self) -> AsyncIterator[None]:
        """Wait until few other big bodies are read or answered; meanwhile the kernel holds the body back."""
        try:
            async with asyncio.timeout(self.bounds.body_seconds):
                await self._slots.acquire()
        except TimeoutError:
            raise _Refused(429, f"{self.bounds.big_bodies} other requests with big bodies are being read") from None
        try:
            yield
        finally:
            self._slots.release()

    def _check_sender(self, request: web.BaseRequest) -> None:
        """Refuse a page of another site, also one whose name resolves to this machine (DNS rebinding)."""
        hosts = request.headers.getall("host", [])
        if len(hosts) != 1 and request.version >= (1, 1):
            raise _Refused(400, f"expected one Host header, got {len(hosts)}")
        for host in hosts:
            if not is_host_served(host, self._host):
                text = f"expected a loopback name or the host that this server is bound to as Host, got {host!r:.80}"
                raise _Refused(421, text)
        for origin in request.headers.getall("origin", []):
            if not is_origin_served(origin, "".join(hosts)):
                raise _Refused(403, f"expected no Origin, or a page of this machine, got {origin!r:.80}")

    def _has_small_body(self, request: web.BaseRequest) -> bool:
        """Return False if a body is big or of unknown length; raises _Refused if it will not be read."""
        length = request.headers.get("content-length")
        if length is None and "transfer-encoding" in request.headers:
            return False
        if length is None and request.method in {"POST", "PUT", "PATCH"}:
            raise _Refused(411, "expected a Content-Length header, got none")
        size = int(length or 0)
        self._check_size(size)
        return size <= _SMALL_BYTES

    async def _received(self, request: web.BaseRequest, connection: "_Connection") -> HttpRequest:
        """Return a request with its body."""
        if request.headers.get("expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0
        content = request.content
        if content.is_eof():
            body = content.read_nowait()
            self._check_size(len(body))
        else:
            connection.awaits_body(content)
            body = await self._read(content)
            connection.awaits_nothing()
        return HttpRequest(request.method, request.raw_path, request.headers, body)

    async def _read(self, content: StreamReader) -> bytes:
        body = bytearray()
        try:
            async for chunk in content.iter_any():
                body += chunk
                self._check_size(len(body))
        except web.RequestPayloadError:
            raise _Refused(400, "expected a body in the declared framing") from None
        return bytes(body)

    def _check_size(self, size: int) -> None:
        if size > self.bounds.body_bytes:
            raise _Refused(413, f"expected a body of at most {self.bounds.body_bytes} bytes, got {size}")


class _Connection(TimedConnection):
    """A connection that answers half-closed peers, and ends slow and unreadable ones with an error in JSON."""

    __slots__ = ("_body", "_is_half_closed", "_server")

    def __init__(self, server: Listener) -> None:
        bounds = server.bounds
        keep, linger = bounds.idle_seconds, bounds.linger_seconds
        super().__init__(server, bounds.head_seconds, logger=_LOG, keepalive_timeout=keep, lingering_time=linger)
        self._server = server
        self._is_half_closed = False
        self._body: StreamReader | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        server = self._server
        server.open += 1
        if server.open > server.bounds.connections:
            # Once for all that are dropped in a row: thousands of them must not fill a log.
            if not server.is_full:
                _LOG.warning("connections are dropped: there are %s already", server.bounds.connections)
            server.is_full = True
            cast(asyncio.Transport, transport).abort()
            return
        server.is_full = False
        # A write then waits until the kernel has it all, so what a slow reader leaves is bounded by time.
        cast(asyncio.Transport, transport).set_write_buffer_limits(0)
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._server.open -= 1
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override] # asyncio asks whether to keep the connection
        """Keep the connection of a peer that only receives from now on until its requests are answered."""
        self._is_half_closed = True
        if self._body is not None:
            self.awaits_body(self._body)
        return not self.is_idle

    def awaits_nothing(self) -> None:
        """Note that nothing is awaited from the peer now."""
        self._body = None
        super().awaits_nothing()

    def awaits_body(self, body: StreamReader) -> None:
        """Note that the rest of a body is awaited; refuse the request if it is late or cannot come any more."""
        self._body = body
        seconds = self._server.bounds.body_seconds
        late = _Refused(408, f"expected the whole body within {seconds:g} seconds")
        self.awaits(seconds, lambda: body.set_exception(late))
        if self._is_half_closed and not body.is_eof():
            body.set_exception(_Refused(400, "expected a whole body, got the end of the connection"))

    def end(self) -> bool:
        """Note that a request was answered, and return True if it was the last one."""
        self.note_answer()
        return self._is_half_closed and self.is_idle

    def drop(self) -> None:
        """Disconnect a client that does not read its reply."""
        self.log_refusal(0, f"the reply was not read within {self._server.bounds.reply_seconds:g} seconds")
        self.abort()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return the error for what aiohttp cannot read or what an answer raised, in JSON."""
        if status >= 500:
            super().handle_error(request, 500, exc or sys.exc_info()[1], message)
            reply = error_reply(500, "the server has failed; its log says why")
        else:
            self.end()
            status = 431 if isinstance(exc, LineTooLong) else status
            reply = error_reply(status, f"the request cannot be read: {(message or '').partition(chr(10))[0]:.200}")
            self.log_refusal(status, type(exc).__name__)
        response = _response(reply)
        response.force_close()
        return response

    def log_exception(self, *arguments: object, **keywords: Any) -> None:
        """Log what an answer raised; that a body cannot be read is the client's, and answered."""
        if not isinstance(keywords.get("exc_info"), web.RequestPayloadError | _Refused):
            super().log_exception(*arguments, **keywords)

    def log_refusal(self, status: int, text: str) -> None:
        """Log that the peer was refused with a status, or disconnected with 0."""
        answered = f"answered {status}" if status else "disconnected"
        _LOG.warning("%s: %s: %s", self.peername, answered, text)


async def listen(
    listener_socket: socket.socket, listener: Listener, stop: asyncio.Event, started: Callable[[], None]
) -> None:
    """Serve on a bound socket until `stop` is set; connections that are open then are closed."""
    server = await asyncio.get_running_loop().create_server(listener, sock=listener_socket, backlog=socket.SOMAXCONN)
    started()
    bounds = listener.bounds
    seconds = bounds.head_seconds, bounds.body_seconds, bounds.reply_seconds
    watch = asyncio.create_task(end_slow_connections(lambda: listener.connections, *seconds))
    try:
        await stop.wait()
    finally:
        watch.cancel()
        server.close()
        listener.pre_shutdown()
        await listener.shutdown(_STOP_SECONDS)
        listener.end_workers()


async def _write(response: web.StreamResponse, reply: HttpReply) -> None:
    """Write a stream, each part when it is due."""
    if reply.paced is None:
        for chunk in reply.body if not isinstance(reply.body, bytes) else ():
            await response.write(chunk)
        return
    async with aclosing(reply.paced()) as chunks:
        async for chunk in chunks:
            await response.write(chunk)


def _response(reply: HttpReply) -> web.StreamResponse:
    if isinstance(reply.body, bytes):
        return web.Response(status=reply.status, body=reply.body, headers=reply.headers)
    return web.StreamResponse(status=reply.status, headers=reply.headers)
