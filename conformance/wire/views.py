"""Views: where rules look.

A view yields elements with their places. It gives a rule its subject, the pointers of its findings, its applicability
(without elements, a rule is not applicable) and the count of checked elements. It also names the side that made them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.continuations import Continuation
from conformance.wire.elements import FailedExchange
from conformance.wire.index import Index
from conformance.wire.sent import SentElements

FIRST_ERROR: Final = 400
"""The first HTTP status that is an error."""
_REPLY: Final = frozenset({"choices", "output", "content", "candidates", "id", "object"})
"""Keys of replies: with one of them, a code and a message are something that a host adds."""


class Side(StrEnum):
    """The side that made an element, and so is responsible for findings on it."""

    CLIENT = "client"
    PROVIDER = "provider"


class View(NamedTuple):
    """A kind of element: its name in the singular, the side that makes it, and how to find those of one exchange.

    `of`: the elements of an exchange, given its number. If creating each would cost too much, `count_quickly` counts
    them, and `at` returns those among some places. Without `at`, the schemas allow every key in these elements, and the
    count is right if all of them are objects. `variant` is the kind of reply that has such elements, `plain` or
    `stream`, if only one has. `between`: the elements in the messages between two positions, if an element stands in a
    message; for a `native` view, these are messages of the native request. `held`: how many of these at the beginning
    have the elements that they had in the request that is continued; if None, all that both have. `ranked`: whether
    elements are in the order of their `rank`, and not in that of their exchanges.
    """

    name: str
    side: Side
    of: Callable[[Index, int], Sequence[Any]]
    count_quickly: Callable[[Index, int], int] | None = None
    at: Callable[[Index, int, Iterable[Place]], Sequence[Any]] | None = None
    variant: str = ""
    between: Callable[[Index, Any], Sequence[Any]] | None = None
    ranked: bool = False
    native: bool = False
    held: Callable[[Index, int], int] | None = None

    def select(self, index: Index) -> Sequence[Any]:
        """Return the elements of all exchanges."""
        count = len(index.parts)
        if count == 1:
            return self.of(index, 0)
        found = [element for number in range(count) for element in self.of(index, number)]
        return sorted(found, key=attrgetter("rank")) if self.ranked else found


def _of_part(name: str) -> Callable[[Index, int], Sequence[Any]]:
    """Return what finds the elements that a part has under a name."""
    get = attrgetter(name)
    return lambda index, number: get(index.parts[number])


def sent_view(name: str, elements: str) -> View:
    """Return a view of elements in the messages of a request, by their name in `SentElements`."""
    get = attrgetter(elements)
    return View(
        name,
        Side.CLIENT,
        lambda index, number: get(index.parts[number].whole),
        between=lambda _index, piece: get(piece),
    )


def _failures(index: Index, number: int) -> list[FailedExchange]:
    """Return the failure of an exchange, if it has any: by its status, in its body, or in an event of its stream."""
    exchange, place = index.conversation[number], (number, "response")
    received = exchange.response if exchange.native is None else exchange.native.response
    if (exchange.status or 0) >= FIRST_ERROR:
        return [FailedExchange(place, received, exchange)]
    for each in index.parts[number].streams:
        if each.value.error is not None:
            at = each.value.anomalies["error-in-band"][0].at
            return [FailedExchange((*place, *at), each.value.error, exchange)]
    if (exchange.native is not None and (error := exchange.native.error()) is not None) or (
        type(received) is dict and (error := _in_body(received)) is not None
    ):
        return [FailedExchange((*place, *error[0]), error[1], exchange)]
    return []


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


def _count_messages(index: Index, number: int) -> int:
    return index.parts[number].message_count


def _count_calls(index: Index, number: int) -> int:
    return index.parts[number].call_counts[-1]


def _resent_between(index: Index, piece: SentElements) -> Sequence[Any]:
    return index.resent_of(piece.number).between(index, piece.number, piece.begin, piece.end)


def _continuation(index: Index, number: int) -> Sequence[Continuation]:
    found = index.continuation_of(number) if number else None
    return () if found is None else (found,)


requests = View("request", Side.CLIENT, _of_part("requests"))
sent_bodies = View("request body", Side.CLIENT, Index.sent_body)
messages = View("message of a request", Side.CLIENT, Index.messages_of, _count_messages, Index.messages_at)
plain_turns = sent_view("assistant message without tool calls", "plain_turns")
tool_turns = sent_view("assistant message with tool calls", "turns")
tool_calls = View("tool call of a request", Side.CLIENT, _of_part("whole.calls"), _count_calls)
tool_results = sent_view("tool message", "results")
tool_definitions = View("tool definition", Side.CLIENT, _of_part("tools"))
resent = View(
    "reply that is sent back",
    Side.CLIENT,
    lambda index, number: index.resent_of(number).of(index, number) if number else (),
    between=_resent_between,
    ranked=True,
)
continuations = View("request that continues an earlier one", Side.CLIENT, _continuation)
answers = View("response of any status", Side.PROVIDER, _of_part("answers"))
responses = View("reply body", Side.PROVIDER, _of_part("responses"), variant="plain")
replies = View("reply", Side.PROVIDER, _of_part("replies"))
reply_calls = View("tool call of a reply", Side.PROVIDER, _of_part("reply_calls"))
streams = View("stream", Side.PROVIDER, _of_part("streams"), variant="stream")
all_streams = View("stream of any wire", Side.PROVIDER, Index.any_stream, variant="stream")
streamed_texts = View("text of a stream", Side.PROVIDER, Index.streamed_texts_of, variant="stream")
chunks = View("chunk", Side.PROVIDER, Index.chunks_of, Index.count_chunks, Index.chunks_at, variant="stream")
errors = View("error reply", Side.PROVIDER, _of_part("errors"))
failures = View("failed exchange", Side.PROVIDER, _failures)
usages = View("usage object", Side.PROVIDER, _of_part("usages"))
