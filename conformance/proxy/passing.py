"""The path of the traffic: each request goes to the provider, and the reply back, as the bytes arrive.

Nothing is decoded, buffered or repaired here. What is read waits until the other side has taken it, so a slow reader
slows its peer, and memory stays bounded. The copy is put together on the way and handed over when the exchange ends.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final, Protocol, cast
from urllib.parse import urlsplit

from aiohttp import ClientConnectorError, ClientError, ClientResponseError, ClientSession, InvalidURL, web
from aiohttp.http import StreamWriter
from yarl import URL

from conformance.proxy import headers as passed
from conformance.proxy import tunnels
from conformance.proxy.connections import BOUNDS, NotPassed, TapConnection, own_reply
from conformance.proxy.copies import MAX_EXCHANGE, MAX_HELD, Copy
from conformance.proxy.receiving import UpstreamReply
from conformance.transport.deadlines import end_slow_connections
from conformance.transport.http import PeerBounds, is_host_served

TOO_LONG: Final = f"request and reply are longer than {MAX_EXCHANGE:,} bytes"
TOO_MUCH: Final = "too much traffic at once"
LEFT: Final = "the client left, or the proxy was ended, before the reply ended"
NO_REPLY: Final = "there was no reply"
WEBSOCKET: Final = "a WebSocket, which passes as it is"
"""Why a copy is not checked."""

TRAILERS: Final = "trailers"
UNENCODED: Final = "bytes of headers, which are not UTF-8"
"""What of an exchange does not pass."""

_STEP: Final = 16 * 1024
"""After how many bytes of an exchange they are counted again."""


class Desk(Protocol):
    """Takes copies over, and knows how much room there is."""

    held: int

    def hand_over(self, copy: Copy) -> None:
        """Take over a copy; must return at once."""


class CopyInProgress:
    """The copy of one exchange while it passes; it gives up its bytes beyond the bounds."""

    __slots__ = (
        "_counted",
        "_desk",
        "_due",
        "_held",
        "_request",
        "_tap",
        "_url",
        "cut",
        "lost",
        "missing",
        "received",
        "reply",
        "sent",
    )

    def __init__(self, desk: Desk, tap: int, url: str, request: web.BaseRequest) -> None:
        self._desk, self._tap, self._url, self._request = desk, tap, url, request
        self._held = self._counted = 0
        self._due = _STEP
        self.sent: list[bytes] = []
        self.received: list[bytes] = []
        self.reply: Any = None
        self.cut = ""
        self.lost = ""
        self.missing: dict[str, None] = {}

    def add(self, part: list[bytes], data: bytes) -> None:
        """Add bytes to the part `sent` or `received`."""
        if self.lost:
            return
        part.append(data)
        self._held += len(data)
        if self._held >= self._due:
            self._account()

    def _account(self) -> None:
        """Count what is held, and give it up beyond the bounds; for each chunk, that would cost more than the copy."""
        self._desk.held += self._held - self._counted
        self._counted, self._due = self._held, self._held + _STEP
        if self._held > MAX_EXCHANGE:
            self.give_up(TOO_LONG)
        elif self._desk.held > MAX_HELD:
            self.give_up(TOO_MUCH)

    def give_up(self, reason: str) -> None:
        """Drop the bytes: the exchange passes without being checked."""
        self.lost = reason
        self.sent.clear()
        self.received.clear()
        self._desk.held -= self._counted
        self._held = self._counted = 0

    def finish(self) -> None:
        """Hand the copy over."""
        request, reply = self._request, self.reply
        self._desk.held -= self._counted
        answer: tuple[int, str, list[tuple[str, str]]] = (0, "", [])
        if reply is None:
            self.lost = self.lost or NO_REPLY
        else:
            answer = reply.status, reply.reason or "", list(reply.headers.items())
        status, reason, headers = answer
        self._desk.hand_over(
            Copy(
                self._tap,
                request.method,
                self._url,
                list(request.headers.items()),
                b"".join(self.sent),
                status,
                reason,
                headers,
                b"".join(self.received),
                self.cut,
                self.lost,
                tuple(self.missing),
            )
        )


class Passing(web.Server):
    """One listening point: everything that arrives goes to one origin."""

    def __init__(
        self,
        desk: Desk,
        tap: int,
        origin: str,
        session: ClientSession,
        host: str,
        through: str = "",
        bounds: PeerBounds = BOUNDS,
    ) -> None:
        """Pass requests to an origin, `scheme://host:port`; `host` is what the proxy is bound to.

        `through` is the URL of another HTTP proxy on the way; empty for none.
        """
        # A client that leaves must end its request to the provider, which would cost tokens.
        super().__init__(self._respond, handler_cancellation=True)
        self._desk, self._tap, self._origin, self._session = desk, tap, origin, session
        self._host, self._through = host, through or None
        self.bounds = bounds
        self.open = 0

    def __call__(self) -> web.RequestHandler:
        """Return the protocol of a new connection."""
        return TapConnection(self, self.bounds)

    async def watch(self) -> None:
        """End the connections of clients that are too slow."""
        bounds = self.bounds.head_seconds, self.bounds.body_seconds, self.bounds.reply_seconds
        await end_slow_connections(lambda: self.connections, *bounds)

    async def _respond(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = cast(TapConnection, request.protocol)
        connection.awaits_nothing()
        try:
            return await self._answer(request)
        finally:
            connection.note_answer()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            url = self._target(request)
        except NotPassed as refused:
            return own_reply(refused.status, refused.message)
        draft = CopyInProgress(self._desk, self._tap, str(url), request)
        self.open += 1
        try:
            return await self._pass(request, url, draft)
        # Both are a client that left: one shows while writing, the other while waiting for the provider.
        except (ConnectionError, asyncio.CancelledError):
            draft.give_up(draft.lost or LEFT)
            raise
        finally:
            self.open -= 1
            draft.finish()

    async def _pass(self, request: web.BaseRequest, url: URL, draft: CopyInProgress) -> web.StreamResponse:
        """Send a request on, and its reply back."""
        upgrades = tunnels.asks(request.method, request.headers)
        try:
            reply: Any = await self._session.request(
                request.method,
                url,
                headers=passed.of_request(request.headers, upgrades=upgrades),
                data=await self._body(request, draft),
                # A redirect is the client's to follow: it decides where its key goes.
                allow_redirects=False,
                skip_auto_headers=passed.NOT_ADDED,
                proxy=self._through,
            )
        except (ClientError, OSError, ValueError, TimeoutError) as error:
            return self._failure(request, draft, error)
        switches = reply.status == tunnels.SWITCHED
        if switches and not upgrades:
            reply.close()
            return self._refused(draft, "switched to another protocol, which the request did not ask for")
        headers = passed.of_reply(reply.headers, upgrades=switches)
        response = _PassedReply(status=reply.status, reason=reply.reason, headers=headers)
        draft.reply = reply
        if passed.loses_bytes(request.headers) or passed.loses_bytes(reply.headers):
            draft.missing[UNENCODED] = None
        async with reply:
            await response.prepare(request)
            if switches:
                draft.give_up(WEBSOCKET)
                await tunnels.tunnel(request.protocol, reply.connection.protocol, reply.content)
                return response
            if not await _relay(reply, response, draft):
                # The client must see that the reply is not whole: no end mark may follow.
                if request.transport is not None:
                    request.transport.close()
                return response
            await _end(request, response, reply, draft)
        return response

    def _target(self, request: web.BaseRequest) -> URL:
        """Return where a request goes; raises _Refused for what this proxy does not pass."""
        hosts = request.headers.getall("host", [])
        if not all(is_host_served(host, self._host) for host in hosts):
            raise NotPassed(421, f"expected a loopback name or the host of this proxy as Host, got {hosts[0]!r:.80}")
        if request.method == "CONNECT" or not request.raw_path.startswith(("/", "*")):
            raise NotPassed(501, "this is not a forward proxy: use its address as the base URL of the client")
        # `OPTIONS *` is about the server, which a URL cannot say.
        path = request.raw_path if request.raw_path != "*" else ""
        try:
            # `encoded`: yarl would write escapes in its own way, and signatures of requests cover them.
            return URL(self._origin + path, encoded=True)
        except ValueError as error:
            raise NotPassed(400, f"expected a path in the request line, got one that is not a URL ({error})") from None

    async def _body(self, request: web.BaseRequest, draft: CopyInProgress) -> bytes | AsyncIterator[bytes] | None:
        """Return the body of a request: whole if it has arrived, else as it arrives, in its own framing."""
        content = request.content
        if content.is_eof() and "transfer-encoding" not in request.headers:
            data = content.read_nowait()
            draft.add(draft.sent, data)
            return data or None
        if request.headers.get("expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            # As aiohttp does it: with a count above 0, it takes the reply for begun and sends no error any more.
            request.writer.output_size = 0
        return self._arriving(request, draft)

    async def _arriving(self, request: web.BaseRequest, draft: CopyInProgress) -> AsyncIterator[bytes]:
        connection, seconds = cast(TapConnection, request.protocol), self.bounds.body_seconds
        late = NotPassed(408, f"expected the whole body within {seconds:g} seconds")
        connection.awaits(seconds, lambda: request.content.set_exception(late))
        async for data in request.content.iter_any():
            draft.add(draft.sent, data)
            yield data
        connection.awaits_nothing()

    def _failure(self, request: web.BaseRequest, draft: CopyInProgress, error: Exception) -> web.StreamResponse:
        """Return the answer of the proxy itself to a request that got no reply."""
        # The body is read while it is sent, so that its own fault shows as one of sending.
        fault = request.content.exception()
        if isinstance(fault, NotPassed):
            draft.give_up(f"the request cannot be read: {fault.message}")
            return own_reply(fault.status, fault.message)
        if fault is not None:
            draft.give_up("the request cannot be read: its body is not framed as declared")
            return own_reply(400, "expected a body in the declared framing")
        verb = "cannot be reached" if isinstance(error, ClientConnectorError) else "did not reply"
        return self._refused(draft, f"{verb}: {_words(error)}")

    def _refused(self, draft: CopyInProgress, what: str) -> web.StreamResponse:
        """Return the answer of the proxy itself for what the provider does."""
        text = f"{urlsplit(self._origin).netloc} {what}"
        draft.give_up(text)
        return own_reply(502, f"conformance proxy: {text}")


async def _relay(reply: Any, response: web.StreamResponse, draft: CopyInProgress) -> bool:
    """Pass the body of a reply; return False if it ended early, which the draft then says."""
    # Looked up once: the loop runs for each chunk of every stream.
    read, write, received = reply.content.readany, response.write, draft.received
    while True:
        try:
            data = await read()
        except (ClientError, OSError) as error:
            draft.cut = f"one that ended early, after {sum(map(len, received)):,} bytes ({_words(error)})"
            return False
        if not data:
            return True
        # First the client, then the copy, so that a copy never delays what passes.
        await write(data)
        draft.add(received, data)


async def _end(
    request: web.BaseRequest, response: web.StreamResponse, reply: UpstreamReply, draft: CopyInProgress
) -> None:
    """End a reply, with its trailers if the client's connection can have some."""
    lines, is_missing = reply.trailers()
    writer = request.writer
    if lines and isinstance(writer, StreamWriter) and writer.chunked:
        # From here on, aiohttp writes what it gets: it has no way to end a body with trailers.
        writer.chunked = False
        await writer.write(b"\r\n".join((b"0", *lines, b"", b"")))
    elif lines:
        is_missing = True
    if is_missing or "trailer" in request.headers:
        draft.missing[TRAILERS] = None
    await response.write_eof()


class _PassedReply(web.StreamResponse):
    """A reply with the headers of the provider, and none that aiohttp would add to it."""

    async def _prepare_headers(self) -> None:
        added = [name for name in ("Content-Type", "Date", "Server") if name not in self.headers]
        await super()._prepare_headers()
        for name in added:
            self.headers.popall(name, None)


def _words(error: BaseException) -> str:
    """Return in words why a connection or its HTTP broke; never with the URL, which may hold a key."""
    if isinstance(error, ClientConnectorError):
        return error.os_error.strerror or str(error.os_error)
    if isinstance(error, InvalidURL):
        return "its URL cannot be used"
    if isinstance(error, ClientResponseError):
        return f"its HTTP is broken ({error.message.partition(chr(10))[0]:.200})"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, TimeoutError):
        return "no connection in time"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
