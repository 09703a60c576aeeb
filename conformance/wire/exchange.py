"""What passed between a client and a provider, as plain values.

Nothing here is coerced: a request body is what was parsed from the wire, a reply is a parsed body or the raw
text of an event stream, and a value that the wire did not carry is None or empty.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


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
