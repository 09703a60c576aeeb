"""A client of one chat completions endpoint that returns replies exactly as they arrived, within bounds."""

import asyncio
import math
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from types import TracebackType
from typing import Any, Final, NamedTuple, Self
from urllib.request import getproxies

import httpx

from conformance.documents import parse_json
from conformance.errors import InvalidDocument, Unusable
from conformance.secrets import Scrubber
from conformance.secrets.urls import shown_url
from conformance.transport import body as bodies
from conformance.transport.interaction import Keep, RawInteraction
from conformance.transport.limits import MAX_TIMEOUTS, REQUEST_TIMEOUT
from conformance.transport.request_text import escaped
from conformance.transport.unreachable import needs_tls, reason
from conformance.wire.exchange import CUT, Exchange
from conformance.wire.native import CHAT
from conformance.wires import by_name

CONNECT_TIMEOUT: Final = 15.0
"""Seconds until an address that does not answer counts as unreachable."""

MAX_WAIT: Final = 30.0
"""The longest Retry-After, in seconds, that is honoured."""

ATTEMPTS: Final = 3

SIMULATOR: Final = "conformance-simulator"
"""The `server` header of this project's simulator, which tells recorded replies of a simulator from real ones."""

SIMULATOR_ERROR: Final = "simulator_error"
"""The error type of a bug in the simulator; a status of 500 alone may be what the profile claims."""

_BAD_REQUEST: Final = 400
_UNREACHABLE: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError)
_LATE: Final = (TimeoutError, bodies.TooSlow, httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout)


class UnusableReply(Unusable):
    """The endpoint answered with a status that says nothing about the request.

    `exchange` is the exchange, if there was a reply: some providers reject requests with 404 or 500.
    """

    def __init__(self, message: str, exchange: Exchange | None = None) -> None:
        super().__init__(message)
        self.exchange = exchange


class Inconclusive(UnusableReply):
    """The endpoint was busy, failed or gave no reply (429, 5xx, a timeout, broken HTTP). Never its failure."""


class RunStopped(Inconclusive):
    """Nothing more is sent in this run."""


class OutOfTime(RunStopped):
    """The time of the whole run is over."""


class Unresponsive(RunStopped):
    """The endpoint timed out so often in a row that further requests would only take time."""


class _BrokenReply(Inconclusive):
    """The connection or its HTTP broke before the headers of a reply had arrived."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to send requests, and with which key; the base URL ends before the path of the wire.

    `seconds`: how long a request may take, to the last byte of its reply. `exclusive`: no one else uses the endpoint,
    like an engine on this machine, so any status is its answer to the request. `scrubber` removes the secrets of a run
    from replies before anything sees them; None for replies that hold none, such as those of cassettes. `wire` names
    the protocol that it speaks; requests and replies are translated. `headers` are sent with each request, and may be
    secret.
    """

    base_url: str
    key: str = field(default="", repr=False)
    seconds: float = REQUEST_TIMEOUT
    exclusive: bool = False
    scrubber: Scrubber | None = None
    wire: str = CHAT
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)


class WireRequest(NamedTuple):
    """A request as the endpoint's wire has it: its body, its URL, and that URL to print."""

    body: Mapping[str, Any]
    url: str
    shown_url: str


@cache
def _certificates(*, secure: bool) -> ssl.SSLContext:
    """Return what the certificates of hosts are verified by; a run makes many clients, and each would read it again.

    Unless `secure`, nothing is: to read the certificates takes longer than all requests of a small run to an engine.
    """
    return httpx.create_ssl_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class Client:
    """Sends request bodies to an endpoint and returns exchanges; use it as a context manager, in one thread."""

    def __init__(
        self, endpoint: Endpoint, transport: httpx.AsyncBaseTransport | None = None, *, until: float = math.inf
    ) -> None:
        """Prepare a client; `transport` replaces the network, and nothing is sent after `until` on the monotonic clock.

        Raises Unusable for a key that no HTTP header can hold.
        """
        if not endpoint.key.isascii() or not endpoint.key.isprintable():
            raise Unusable("the key holds characters that an HTTP header cannot hold, such as a line break")
        self._endpoint, self._until = endpoint, until
        # An engine that silently drops idle connections must not look like one that has stopped.
        limits = httpx.Limits(max_keepalive_connections=0 if endpoint.exclusive else 20)
        timeout = httpx.Timeout(None, connect=min(CONNECT_TIMEOUT, endpoint.seconds))
        self._open = partial(
            httpx.AsyncClient, timeout=timeout, follow_redirects=False, limits=limits, transport=transport
        )
        self._wire = by_name(endpoint.wire)
        self._base_url = endpoint.base_url.rstrip("/")
        self._answers = 0
        self._is_plain = False
        self._timeouts = 0
        self._busy = 0
        self._silence = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if "_http" in vars(self):
            self._runner.run(self._http.aclose())
            self._runner.close()

    # A replay sends nothing, and needs neither of these.
    @cached_property
    def _http(self) -> httpx.AsyncClient:
        # A proxy may be asked over TLS although the endpoint is not.
        secure = not self._base_url.lower().startswith("http://") or bool(getproxies())
        return self._open(verify=_certificates(secure=secure))

    @cached_property
    def _runner(self) -> asyncio.Runner:
        # Asynchronous, since only so a deadline holds for a whole reply; with a loop of its own, which it hides.
        return asyncio.Runner(loop_factory=asyncio.new_event_loop)

    def send(self, body: Mapping[str, Any], keep: Keep | None = None) -> Exchange:
        """Return the exchange of one request; `keep` gets each reply as it came, those before a retry too.

        A rejection (400, 422) is an exchange like any other. Raises Unusable if a retry is pointless (nothing listens,
        the key is refused, the path does not exist), and Inconclusive if the endpoint was busy or failed.
        """
        for attempt in range(1, ATTEMPTS + 1):
            is_last = attempt == ATTEMPTS
            try:
                exchange = self.send_once(body, keep)
            except _BrokenReply:
                if is_last or self._endpoint.exclusive:
                    raise
                continue
            if self._endpoint.exclusive:
                self._answers += 1
                return exchange
            wait = _wait(exchange)
            self._refuse_long_wait(exchange, wait)
            if wait is None or is_last or wait > MAX_WAIT:
                return self._conclude(exchange)
            if time.monotonic() + wait >= self._until:
                raise self._out_of_time()
            time.sleep(wait)
        raise AssertionError

    def _refuse_long_wait(self, exchange: Exchange, wait: float | None) -> None:
        """Raise Unresponsive if the endpoint has asked several times in a row for a longer wait than is honoured."""
        self._busy = self._busy + 1 if wait is not None and wait > MAX_WAIT else 0
        if self._busy >= MAX_TIMEOUTS:
            said = self._scrubbed(str(exchange.response))
            self._timeouts = MAX_TIMEOUTS
            self._silence = (
                f"HTTP {exchange.status} {self._busy} times in a row, with Retry-After: {wait:g} seconds, so nothing "
                f"more is sent; the endpoint says: {said:.200}"
            )
            raise Unresponsive(self._silence)

    def send_once(self, body: Mapping[str, Any], keep: Keep | None = None) -> Exchange:
        """Return the exchange of one request, whatever its status, without a retry; raises if no reply comes."""
        if self._timeouts >= MAX_TIMEOUTS:
            raise Unresponsive(self._silence)
        left = self._until - time.monotonic()
        if left <= 0:
            raise self._out_of_time()
        sent = self._on_wire(body)
        try:
            interaction = self.answer(sent, min(left, self._endpoint.seconds))
        except _LATE as error:
            raise self._late(sent.shown_url, error, left) from None
        except _UNREACHABLE as error:
            raise self._unreachable(error, sent.shown_url) from None
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL) as error:
            words = self._scrubbed(str(error))
            raise Unusable(f"cannot send to {sent.shown_url} ({words}); check the URL") from None
        except (httpx.TransportError, OSError) as error:
            self._require_plain(sent, error=error)
            words = self._scrubbed(bodies.words(error))
            raise _BrokenReply(f"{sent.shown_url} gave no HTTP reply: {words}") from None
        if interaction.status == _BAD_REQUEST:
            self._require_plain(sent, interaction.content)
        self._timeouts = 0
        if self._endpoint.scrubber is not None:
            interaction = interaction.without_secrets(self._endpoint.scrubber)
        if keep is not None:
            keep(interaction)
        exchange = _exchange(sent, interaction, str(body.get("model", "")))
        return self._wire.translate_one(exchange)

    def _require_plain(self, sent: WireRequest, answered: bytes = b"", error: Exception | None = None) -> None:
        """Raise Unusable if the port speaks TLS and plain HTTP was sent, as long as nothing else was answered."""
        if self._answers or self._is_plain:
            return
        if words := needs_tls(sent.url, answered, error):
            raise Unusable(f"cannot send to {sent.shown_url}: {words}")
        # The port was asked, and each further question could take seconds.
        self._is_plain = error is not None

    def answer(self, sent: WireRequest, seconds: float) -> RawInteraction:
        """Return a request and its reply, which has to end in so many seconds; a replay puts another in its place."""
        return self._runner.run(self._ask(self._request(sent), seconds))

    def _on_wire(self, body: Mapping[str, Any]) -> WireRequest:
        url = self._base_url + self._wire.path(body)
        return WireRequest(self._wire.write(body), url, shown_url(url))

    def _request(self, sent: WireRequest) -> httpx.Request:
        headers = {"accept-encoding": bodies.ACCEPTED_ENCODINGS, **self._wire.headers(self._endpoint.key)}
        headers |= dict(self._endpoint.headers)
        try:
            return self._http.build_request("POST", sent.url, json=sent.body, headers=headers)
        except UnicodeEncodeError:
            # What a provider said with half a surrogate pair goes back to it as it came: escaped.
            headers["content-type"] = "application/json"
            return self._http.build_request("POST", sent.url, content=escaped(sent.body), headers=headers)

    async def _ask(self, request: httpx.Request, seconds: float) -> RawInteraction:
        async with asyncio.timeout(seconds if math.isfinite(seconds) else None):
            reply = await self._http.send(request, stream=True)
            try:
                content, cut = await bodies.read(reply)
            finally:
                await reply.aclose()
        headers = reply.headers.multi_items()
        return RawInteraction(
            url=str(request.url),
            sent_headers=tuple(request.headers.multi_items()),
            sent=request.content,
            status=reply.status_code,
            reason=reply.reason_phrase,
            headers=(*headers, (CUT, cut)) if cut else tuple(headers),
            content=content,
        )

    def _conclude(self, exchange: Exchange) -> Exchange:
        """Return an exchange whose status says something about the request; raises UnusableReply for any other.

        What would stop the run at its start costs only its request after the endpoint has given good answers.
        """
        try:
            conclusive = _conclusive(exchange)
        # First, because it is an Unusable too, and is raised as it is.
        except Inconclusive:
            raise
        except Unusable as error:
            if self._answers:
                raise Inconclusive(f"{error}; {self._so_far()}", exchange) from None
            raise
        self._answers += 1
        return conclusive

    def _late(self, url: str, error: Exception, left: float) -> Inconclusive:
        """Return what to raise for a reply that did not end in time; `left` were the seconds of the run before it."""
        is_slow = isinstance(error, bodies.TooSlow)
        if left < self._endpoint.seconds and not is_slow:
            return self._out_of_time()
        late = str(error) if is_slow else f"did not finish its reply within {self._endpoint.seconds:g} seconds"
        return self._timed_out(f"{url} {late}")

    def _timed_out(self, message: str) -> Inconclusive:
        """Count a timeout, and return what to raise for it."""
        self._timeouts += 1
        if self._timeouts < MAX_TIMEOUTS:
            return Inconclusive(message)
        self._silence = f"{self._timeouts} timeouts in a row, so nothing more is sent; the last one: {message}"
        return Unresponsive(self._silence)

    def _unreachable(self, error: httpx.TransportError, url: str) -> Unusable:
        """Return what to raise if no connection comes about; after good answers, it costs only its request."""
        words = self._scrubbed(reason(error))
        words = words or f"no connection within {min(CONNECT_TIMEOUT, self._endpoint.seconds):g} seconds"
        if self._answers:
            message = f"{url} cannot be connected to any more ({words}); {self._so_far()}"
            return self._timed_out(message) if isinstance(error, httpx.ConnectTimeout) else Inconclusive(message)
        return Unusable(f"cannot connect to {url} ({words}); check the URL, or start the server first")

    def _scrubbed(self, text: str) -> str:
        return text if self._endpoint.scrubber is None else self._endpoint.scrubber.text(text)

    def _so_far(self) -> str:
        return f"it had given {self._answers} good answers before" if self._answers > 1 else "it had answered before"

    def _out_of_time(self) -> OutOfTime:
        return OutOfTime("the time of the run (--max-time) is over")


def _exchange(sent: WireRequest, kept: RawInteraction, model: str) -> Exchange:
    headers: dict[str, str] = {}
    for name, value in kept.headers:
        headers[name.lower()] = f"{headers[name.lower()]}, {value}" if name.lower() in headers else value
    begins = kept.content[:6].startswith((b"data:", b"event:"))
    streamed = headers.get("content-type", "").startswith("text/event-stream") or begins
    return Exchange.of_plain(
        request=dict(sent.body),
        response=kept.content.decode("utf-8", "replace") if streamed else _parsed(kept.content),
        status=kept.status,
        streamed=streamed,
        headers=headers,
        url=sent.shown_url,
        model=model,
    )


def _conclusive(exchange: Exchange) -> Exchange:
    """Return an exchange whose status says something about the request; raises UnusableReply for any other."""
    status, url = exchange.status or 0, exchange.url
    if status in (401, 403):
        message = f"{url} refuses the key (HTTP {status}); set the environment variable that the profile names"
        raise UnusableReply(message, exchange)
    if status == 404:
        message = f"{url} does not exist (HTTP 404); --base-url must end before the path of the API, usually in /v1"
        raise UnusableReply(message, exchange)
    if status == 500 and SIMULATOR_ERROR in str(exchange.response):
        raise Unusable(str(exchange.response))
    if 300 <= status < 400:
        message = f"{url} redirects to {exchange.headers.get('location', 'nowhere')} (HTTP {status}); check the URL"
        raise Unusable(message)
    if status < 400 and _is_html(exchange):
        message = f"{url} answered HTTP {status} with an HTML page, so it is not an API; check the URL"
        raise Unusable(message)
    if status == 429 or status >= 500:
        message = f"{url} answered HTTP {status}, which says nothing about the request"
        raise Inconclusive(message, exchange)
    return exchange


def _is_html(exchange: Exchange) -> bool:
    body = exchange.response
    is_page = isinstance(body, str) and body[:200].lstrip().lower().startswith(("<!doctype", "<html"))
    return is_page or exchange.headers.get("content-type", "").startswith("text/html")


def _parsed(content: bytes) -> Any:
    try:
        return parse_json(content)
    except InvalidDocument:
        return content.decode("utf-8", "replace")


def _wait(exchange: Exchange) -> float | None:
    """Return the seconds to wait before a retry, or None if the reply is final."""
    if exchange.status not in (429, 503):
        return None
    after = exchange.headers.get("retry-after", "")
    return float(after) if after.isdecimal() else 1.0
