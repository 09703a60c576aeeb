"""What passed between a client and a provider, as plain values.

Nothing here is coerced: a request body is what was parsed from the wire, a reply is a parsed body or the raw
text of an event stream, and a value that the wire did not carry is None or empty.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from conformance.wire.sse import render


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its reply.

    `request`: the body as parsed; None where it was not kept.
    `response`: the reply's body as parsed; a str is raw text (an event stream, or a body that is not JSON);
    None where it was not kept.
    `status`: the HTTP status; None where it is not known.
    `streamed`: the reply is an event stream.
    `headers`: the reply's headers, names in lower case.
    `model`: the model that was asked for, else the one that replied; `date`: the ISO 8601 day of the exchange.
    """

    request: Any = None
    response: Any = None
    status: int | None = None
    streamed: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    model: str = ""
    date: str = ""


Conversation: TypeAlias = tuple[Exchange, ...]
"""The exchanges of one session, in their order."""


def from_json(value: Mapping[str, Any]) -> Exchange:
    """Return the exchange of its JSON form, as fixtures and recordings hold it.

    `response` may be a list: the items of a stream, each a chunk object or raw text, which become its text.
    """
    response = value.get("response")
    streamed = value.get("stream") is True or isinstance(response, list)
    request = value.get("request")
    asked = request.get("model") if isinstance(request, Mapping) else None
    return Exchange(
        request=request,
        response=render(response) if isinstance(response, list) else response,
        status=value.get("status"),
        streamed=streamed and not isinstance(response, Mapping),
        headers={name.lower(): text for name, text in (value.get("headers") or {}).items()},
        url=value.get("url") or "",
        model=value.get("model") or asked or "",
        date=value.get("date") or "",
    )
