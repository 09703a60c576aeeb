"""Requests and replies between a client and a provider, as plain values.

Nothing is repaired: a request body is the JSON value from the wire, a reply is a parsed body or the raw text of an
event stream, and what the wire did not carry is None or empty.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self, TypeAlias

from conformance.documents import JSON
from conformance.wire import plain
from conformance.wire.native import CHAT, Native

_HEAD: Final = 8192
_MODEL: Final = re.compile(r'"model":\s*"([^"\\]*)"')
_EVENT_STREAM: Final = "text/event-stream"

CUT: Final = "x-conformance-cut"
"""The header that this project's client adds to a reply whose body is not whole; its value says in words how.

A header, since recordings of every format keep it, so that a replayed body is as cut as it was.
"""


@dataclass(frozen=True, slots=True, init=False)
class Exchange:
    """One request and its reply, normalised to plain JSON values.

    `request`: the body; a dict or any mapping, or its bytes or text; None if it was not recorded.
    `response`: the reply's body; a dict or any mapping, its bytes or text, or the bytes or text of an event stream;
    None if it was not recorded. Text that is not JSON stays text.
    `status`: the HTTP status; None if it is unknown.
    `streamed`: whether the reply is an event stream; detected from its text and content type.
    `headers`: the reply's headers; a mapping, `httpx.Headers` or pairs, names in any case, stored in lower case.
    `url`: the URL of the request. `model`: the requested model; taken from the request, else from the reply.
    `date`: the day of the exchange, ISO 8601 or a `date`; it selects the claims that applied then; empty means the
    last day on which the sources of a profile were read. `native`: what the exchange was on its own wire; None unless
    it was translated, which checking does by itself.

    Raises TypeError for a value that JSON cannot hold, such as an object of an SDK, and InvalidDocument for a request
    whose text is not JSON.

        >>> from conformance import Exchange
        >>> exchange = Exchange(request=b'{"model": "gpt-5", "messages": []}', headers={"Content-Type": "text/plain"})
        >>> exchange.model, exchange.request, exchange.headers
        ('gpt-5', {'model': 'gpt-5', 'messages': []}, {'content-type': 'text/plain'})
    """

    request: Any = None
    response: Any = None
    status: int | None = None
    streamed: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    model: str = ""
    date: str = ""
    native: Native | None = None

    def __init__(  # noqa: PLR0913, PLR0917 — the fields of an exchange
        self,
        request: Any = None,
        response: Any = None,
        status: int | None = None,
        streamed: bool = False,  # noqa: FBT001, FBT002 — the fields of an exchange, in their order
        headers: Any = None,
        url: str = "",
        model: str = "",
        date: str = "",
        native: Native | None = None,
    ) -> None:
        """Normalise every field."""
        fields = plain.header_fields(headers) if headers else {}
        request = None if request is None else plain.request_body(request)
        response = None if response is None else plain.reply_body(response)
        streamed = isinstance(response, str) and (
            bool(streamed) or plain.is_event_stream(response) or _EVENT_STREAM in fields.get("content-type", "")
        )
        model = str(model or "") or model_of(request) or model_of(response)
        number = None if status is None else plain.status_code(status)
        day = plain.day(date) if date else ""
        _fill(self, request, response, number, streamed, fields, str(url or ""), model, day, native)

    @classmethod
    def of_plain(  # noqa: PLR0913, PLR0917 — the fields of an exchange
        cls,
        request: Any = None,
        response: Any = None,
        status: int | None = None,
        streamed: bool = False,  # noqa: FBT001, FBT002 — the fields of an exchange, in their order
        headers: Mapping[str, str] | None = None,
        url: str = "",
        model: str = "",
        date: str = "",
        native: Native | None = None,
    ) -> Self:
        """Return an exchange of values that this package has parsed; nothing is checked or copied."""
        exchange = object.__new__(cls)
        _fill(exchange, request, response, status, streamed, headers or {}, url, model, date, native)
        return exchange

    @property
    def protocol(self) -> str:
        """Return the name of the wire that the exchange was on: `chat`, or that of its native form."""
        return CHAT if self.native is None else self.native.protocol

    @property
    def as_received(self) -> "Exchange":
        """Return the exchange as it was on its own wire: itself, unless it was translated."""
        native = self.native
        if native is None:
            return self
        return replace(
            self,
            request=native.request,
            response=native.response,
            streamed=isinstance(native.response, str),
            native=None,
        )


def _fill(  # noqa: PLR0913, PLR0917 — the fields of an exchange
    exchange: Exchange,
    request: JSON,
    response: JSON,
    status: int | None,
    streamed: bool,  # noqa: FBT001 — the fields of an exchange, in their order
    headers: Mapping[str, str],
    url: str,
    model: str,
    date: str,
    native: Native | None,
) -> None:
    """Set the fields of a new exchange, which is frozen."""
    put = object.__setattr__
    put(exchange, "request", request)
    put(exchange, "response", response)
    put(exchange, "status", status)
    put(exchange, "streamed", streamed)
    put(exchange, "headers", headers)
    put(exchange, "url", url)
    put(exchange, "model", model)
    put(exchange, "date", date)
    put(exchange, "native", native)


Conversation: TypeAlias = tuple[Exchange, ...]
"""The exchanges of one session, in order."""


def model_of(body: JSON) -> str:
    """Return the model named in a body, or in the first chunks of a stream; empty if there is none."""
    if isinstance(body, str):
        found = _MODEL.search(body[:_HEAD])
        return found.group(1) if found else ""
    model = body.get("model") if isinstance(body, dict) else None
    return model if isinstance(model, str) else ""
