"""A client of one chat completions endpoint that keeps what came over the wire as it came."""

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
"""Bytes of a reply that are read; what comes after is cut off, and so found as a cut stream or a broken body."""

MAX_WAIT = 30.0
"""Seconds that a Retry-After is honoured for at most."""

ATTEMPTS = 3

SIMULATOR = "conformance-simulator"
"""The `server` header of this project's simulator: whoever records a reply knows what it is evidence of."""

FAULT = "simulator_error"
"""The type of the simulator's error where it is itself at fault; its profile may well claim a 500, too."""


class Unjudged(Unusable):
    """The endpoint answered with a status that says nothing of the request.

    `exchange` is what it answered, where it did: some providers are known to refuse requests with 404 or 500.
    """

    def __init__(self, message: str, exchange: Exchange | None = None) -> None:
        super().__init__(message)
        self.exchange = exchange


class Inconclusive(Unjudged):
    """The endpoint was busy or broke (429, 5xx, a time-out). Never a failure."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask and with which key; the base URL is what clients call it, up to and without `/chat/completions`.

    `alone`: nobody else asks it, as with an engine on this machine, so that any status is its answer to the request.
    """

    base_url: str
    key: str = ""
    seconds: float = 120.0
    alone: bool = False


class Client:
    """Sends request bodies to an endpoint and returns exchanges; use it as a context manager."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        # An engine that drops an idle connection without a word is not to be taken for one that is gone.
        limits = httpx.Limits(max_keepalive_connections=0 if endpoint.alone else 20)
        self._http = httpx.Client(timeout=endpoint.seconds, follow_redirects=False, limits=limits)
        self._url = endpoint.base_url.rstrip("/") + "/chat/completions"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def send(self, body: Mapping[str, Any], date: str = "") -> Exchange:
        """Return the exchange of one request; `date` is the ISO day to note on it.

        A refusal (400, 422) is an exchange like any other. Raises Unusable where asking again is in vain (nobody
        listens, the key is refused, no such path), and Inconclusive where the endpoint was busy or broke.
        """
        for attempt in range(1, ATTEMPTS + 1):
            exchange = self.ask(body, date)
            if self._endpoint.alone:
                return exchange
            wait = _wait(exchange)
            if wait is None or attempt == ATTEMPTS:
                return self._judged(exchange)
            time.sleep(wait)
        raise AssertionError

    def ask(self, body: Mapping[str, Any], date: str = "") -> Exchange:
        """Return the exchange of one request, whatever its status; asks once, and raises where nobody answers."""
        headers = {"authorization": f"Bearer {self._endpoint.key}"} if self._endpoint.key else {}
        try:
            with self._http.stream("POST", self._url, json=body, headers=headers) as reply:
                content = _read(reply)
        except httpx.TimeoutException:
            message = f"{self._url} did not answer within {self._endpoint.seconds:g} seconds"
            raise Inconclusive(message) from None
        except httpx.TransportError as error:
            message = f"nobody can be reached at {self._url} ({error}); check --base-url, or start the server first"
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

    def _judged(self, exchange: Exchange) -> Exchange:
        status = exchange.status or 0
        if status in (401, 403):
            message = (
                f"{self._url} refuses the key (HTTP {status}); set the environment variable that the profile names"
            )
            raise Unjudged(message, exchange)
        if status == 404:
            message = f"{self._url} is not found (HTTP 404); --base-url ends before /chat/completions, mostly in /v1"
            raise Unjudged(message, exchange)
        if status == 500 and FAULT in str(exchange.response):
            raise Unusable(str(exchange.response))
        if status == 429 or status >= 500:
            message = f"{self._url} answered HTTP {status}, which says nothing of the request"
            raise Inconclusive(message, exchange)
        return exchange


def _read(reply: httpx.Response) -> bytes:
    pieces = []
    left = MAX_REPLY
    try:
        for piece in reply.iter_bytes():
            pieces.append(piece[:left])
            left -= len(pieces[-1])
            if left <= 0:
                break
    except httpx.RemoteProtocolError:
        # The connection ended in the middle: what came is the evidence of a cut reply.
        pass
    return b"".join(pieces)


def _parsed(content: bytes) -> Any:
    try:
        return parse_json(content)
    except InvalidDocument:
        return content.decode("utf-8", "replace")


def _wait(exchange: Exchange) -> float | None:
    """Return the seconds to wait before asking again; None where the reply stands."""
    if exchange.status not in (429, 503):
        return None
    after = exchange.headers.get("retry-after", "")
    return min(float(after), MAX_WAIT) if after.isdecimal() else 1.0
