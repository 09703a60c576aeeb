"""Views: where rules look.

A view yields elements with their places. It gives a rule its subject, the pointers of its findings, its applicability
(without elements, a rule is not applicable) and the count of checked elements. It also names the side that made them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.elements import FailedExchange
from conformance.wire.index import Index

FIRST_ERROR: Final = 400
"""The first HTTP status that is an error."""
_REPLY: Final = frozenset({"choices", "output", "content", "candidates", "id", "object"})
"""Keys of replies: with one of them, a code and a message are something that a host adds."""


class Side(StrEnum):
    """The side that made an element, and so is responsible for findings on it."""

    CLIENT = "client"
    PROVIDER = "provider"


class View(NamedTuple):
    """A kind of element: its name in the singular, the side that makes it, and how to find all of them.

    If creating each would cost too much, `count_quickly` counts them, and `at` returns those among some places. Without
    `at`, the schemas allow every key in these elements, and the count is right if all of them are objects.
    `variant` is the kind of reply that has such elements, `plain` or `stream`, if only one has.
    """

    name: str
    side: Side
    select: Callable[[Index], Sequence[Any]]
    count_quickly: Callable[[Index], int] | None = None
    at: Callable[[Index, Iterable[Place]], Sequence[Any]] | None = None
    variant: str = ""


def _failures(index: Index) -> list[FailedExchange]:
    """Return one failure for each exchange that has any: by its status, in its body, or in an event of its stream."""
    found = []
    streams = {stream.place[0]: stream for stream in index.streams if stream.value.error is not None}
    for number, exchange in enumerate(index.conversation):
        place = (number, "response")
        received = exchange.response if exchange.native is None else exchange.native.response
        if (exchange.status or 0) >= FIRST_ERROR:
            found.append(FailedExchange(place, received, exchange))
        elif number in streams:
            stream = streams[number].value
            found.append(FailedExchange((*place, *stream.anomalies["error-in-band"][0].at), stream.error, exchange))
        elif (exchange.native is not None and (error := exchange.native.error()) is not None) or (
            type(received) is dict and (error := _in_body(received)) is not None
        ):
            found.append(FailedExchange((*place, *error[0]), error[1], exchange))
    return found


def _in_body(body: dict[str, Any]) -> tuple[Place, Any] | None:
    """Return the error in a body without an error status, and its place; None if it has none."""
    if body.get("error"):
        return ("error",), body["error"]
    if body.get("object") == "error" or (body.get("type") == "error" and "message" in body):
        return (), body
    choices = body.get("choices")
    for position, choice in enumerate(choices if type(choices) is list else ()):
        if type(choice) is dict and choice.get("error"):
            return ("choices", position, "error"), choice["error"]
    return ((), body) if not choices and is_flat_error(body) else None


def is_flat_error(body: Mapping[str, Any]) -> bool:
    """Return whether a body is an error of hosts that write a code and a text at its top, whatever its status is."""
    base = body.get("base_resp")
    if type(base) is dict:
        return bool(base.get("status_code"))
    said = next((body[key] for key in ("msg", "message") if key in body), None)
    return type(said) is str and "code" in body and body.get("success") is not True and _REPLY.isdisjoint(body)


requests = View("request", Side.CLIENT, attrgetter("requests"))
sent_bodies = View("request body", Side.CLIENT, attrgetter("sent_bodies"))
messages = View("message of a request", Side.CLIENT, attrgetter("messages"), Index.count_messages, Index.messages_at)
plain_turns = View("assistant message without tool calls", Side.CLIENT, attrgetter("plain_turns"))
tool_turns = View("assistant message with tool calls", Side.CLIENT, attrgetter("turns"))
tool_calls = View("tool call of a request", Side.CLIENT, attrgetter("calls"), Index.count_calls)
tool_results = View("tool message", Side.CLIENT, attrgetter("results"))
tool_definitions = View("tool definition", Side.CLIENT, attrgetter("tools"))
resent = View("reply that is sent back", Side.CLIENT, attrgetter("resent"))
continuations = View("request that continues an earlier one", Side.CLIENT, attrgetter("continuations"))
answers = View("response of any status", Side.PROVIDER, attrgetter("answers"))
responses = View("reply body", Side.PROVIDER, attrgetter("responses"), variant="plain")
replies = View("reply", Side.PROVIDER, attrgetter("replies"))
reply_calls = View("tool call of a reply", Side.PROVIDER, attrgetter("reply_calls"))
streams = View("stream", Side.PROVIDER, attrgetter("streams"), variant="stream")
all_streams = View("stream of any wire", Side.PROVIDER, attrgetter("all_streams"), variant="stream")
streamed_texts = View("text of a stream", Side.PROVIDER, attrgetter("streamed_texts"), variant="stream")
chunks = View("chunk", Side.PROVIDER, attrgetter("chunks"), Index.count_chunks, Index.chunks_at, variant="stream")
errors = View("error reply", Side.PROVIDER, attrgetter("errors"))
failures = View("failed exchange", Side.PROVIDER, _failures)
usages = View("usage object", Side.PROVIDER, attrgetter("usages"))
