"""A client of one chat completions endpoint that returns replies exactly as they arrived."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx

from conformance.documents import parse_json
from conformance.errors import InvalidDocument, Unusable
from conformance.wire.exchange import Exchange

MAX_REPLY = 32 * 1024 * 1024
"""Bytes of a reply that are read; a longer reply is truncated, and found to be a cut stream or a broken body."""

MAX_WAIT = 30.0
"""The longest Retry-After, in seconds, that is honoured."""

ATTEMPTS = 3

SIMULATOR = "conformance-simulator"
"""The `server` header of this project's simulator, which tells recorded replies of a simulator from real ones."""

SIMULATOR_ERROR = "simulator_error"
"""The error type of a bug in the simulator; a status of 500 alone may be what the profile claims."""


class UnusableReply(Unusable):
    """The endpoint answered with a status that says nothing about the request.

    `exchange` is the exchange, if there was a reply: some providers reject requests with 404 or 500.
    """

    def __init__(self, message: str, exchange: Exchange | None = None) -> None:
        super().__init__(message)
        self.exchange = exchange


class Inconclusive(UnusableReply):
    """The endpoint was busy or failed (429, 5xx, a timeout). Never a failure of the provider."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to send requests, and with which key; the base URL ends before `/chat/completions`.

    `exclusive`: no one else uses it, like an engine on this machine, so any status is its answer to the request.
    """

    base_url: str
    key: str = ""
    seconds: float = 120.0
    exclusive: bool = False


class Client:
    """Sends request bodies to an endpoint and returns exchanges; use it as a context manager."""

    def __init__(self, endpoint: Endpoint, transport: httpx.BaseTransport | None = None) -> None:
        """Prepare a client; `transport` replaces the network."""
        self._endpoint = endpoint
        # An engine that silently drops idle connections must not look like one that has stopped.
        limits = httpx.Limits(max_keepalive_connections=0 if endpoint.exclusive else 20)
        self._http = httpx.Client(timeout=endpoint.seconds, follow_redirects=False, limits=limits, transport=transport)
        self._url = endpoint.base_url.rstrip("/") + "/chat/completions"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def send(self, body: Mapping[str, Any], date: str = "") -> Exchange:
        """Return the exchange of one request; `date` is the ISO day to note on it.

        A rejection (400, 422) is an exchange like any other. Raises Unusable if a retry is pointless (nothing listens,
        the key is refused, the path does not exist), and Inconclusive if the endpoint was busy or failed.
        """
        for attempt in range(1, ATTEMPTS + 1):
            exchange = self.send_once(body, date)
            if self._endpoint.exclusive:
                return exchange
            wait = _wait(exchange)
            if wait is None or attempt == ATTEMPTS:
                return _conclusive(exchange, self._url)
            time.sleep(wait)
        raise AssertionError

    def send_once(self, body: Mapping[str, Any], date: str = "") -> Exchange:
        """Return the exchange of one request, whatever its status, without a retry; raises if no reply comes."""
        headers = {"authorization": f"Bearer {self._endpoint.key}"} if self._endpoint.key else {}
        try:
            with self._http.stream("POST", self._url, json=body, headers=headers) as reply:
                content = _read(reply)
        except httpx.TimeoutException:
            message = f"{self._url} did not answer within {self._endpoint.seconds:g} seconds"
            raise Inconclusive(message) from None
        except httpx.TransportError as error:
            message = f"cannot connect to {self._url} ({error}); check --base-url, or start the server first"
            raise Unusable(message) from None
        lowered = {name.lower(): value for name, value in reply.headers.items()}
        streamed = lowered.get("content-type", "").startswith("text/event-stream") or content[:5] == b"data:"
        return Exchange.of_plain(
            request=dict(body),
            response=content.decode("utf-8", "replace") if streamed else _parsed(content),
            status=reply.status_code,
            streamed=streamed,
            headers=lowered,
            url=self._url,
            model=str(body.get("model", "")),
            date=date,
        )


def _conclusive(exchange: Exchange, url: str) -> Exchange:
    """Return an exchange whose status says something about the request; raises UnusableReply for any other."""
    status = exchange.status or 0
    if status in (401, 403):
        message = f"{url} refuses the key (HTTP {status}); set the environment variable that the profile names"
        raise UnusableReply(message, exchange)
    if status == 404:
        message = f"{url} does not exist (HTTP 404); --base-url must end before /chat/completions, usually in /v1"
        raise UnusableReply(message, exchange)
    if status == 500 and SIMULATOR_ERROR in str(exchange.response):
        raise Unusable(str(exchange.response))
    if 300 <= status < 400:
        message = f"{url} redirects to {exchange.headers.get('location', 'nowhere')} (HTTP {status}); check --base-url"
        raise Unusable(message)
    if status < 400 and _is_html(exchange):
        message = f"{url} answered HTTP {status} with an HTML page, so it is no API; check --base-url"
        raise Unusable(message)
    if status == 429 or status >= 500:
        message = f"{url} answered HTTP {status}, which says nothing about the request"
        raise Inconclusive(message, exchange)
    return exchange


def _is_html(exchange: Exchange) -> bool:
    body = exchange.response
    is_page = isinstance(body, str) and body[:200].lstrip().lower().startswith(("<!doctype", "<html"))
    return is_page or exchange.headers.get("content-type", "").startswith("text/html")


def _read(reply: httpx.Response) -> bytes:
    chunks = []
    left = MAX_REPLY
    try:
        for chunk in reply.iter_bytes():
            chunks.append(chunk[:left])
            left -= len(chunks[-1])
            if left <= 0:
                break
    except httpx.RemoteProtocolError:
        # The connection ended early; what arrived is the evidence of a truncated reply.
        pass
    return b"".join(chunks)


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
    return min(float(after), MAX_WAIT) if after.isdecimal() else 1.0
