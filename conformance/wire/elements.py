"""The elements of a conversation that rules check: tuples that refer to its own values, each with its place."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.anomalies import Anomaly
from conformance.wire.assemble import Stream
from conformance.wire.exchange import Exchange


class Message(NamedTuple):
    """A message of a request; `request` is the body and `number` the position in its messages."""

    place: Place
    value: dict[str, Any]
    role: Any
    number: int
    request: dict[str, Any]


class Call(NamedTuple):
    """A tool call, in a request's history or in a reply; `position` is its position in the calls of its message."""

    place: Place
    value: dict[str, Any]
    id: Any
    name: Any
    arguments: Any
    position: int
    request: dict[str, Any] | None


class Result(NamedTuple):
    """A tool message of a request.

    `called`: the ids of the calls in the tool turn before it, with no other assistant message in between; None if there
    is none. `adjacent`: whether there are only tool messages between the two. `known`: whether a call has its id.
    """

    place: Place
    value: dict[str, Any]
    id: Any
    called: list[Any] | None
    adjacent: bool
    known: bool
    number: int


class ToolTurn(NamedTuple):
    """An assistant message with tool calls in a request's history, and the results that follow it.

    `ids`: those of the calls, in order. `current`: whether no user message follows, so that the model is still in
    this loop. `paired`: whether the results directly follow, with the ids of the calls in the same order.
    """

    place: Place
    value: dict[str, Any]
    ids: list[Any]
    results: list[Result]
    current: bool
    paired: bool
    number: int
    request: dict[str, Any]

    @property
    def calls(self) -> list[Call]:
        """Return the calls as elements."""
        return calls_of(self.value["tool_calls"], self.place, self.request)


class Reply(NamedTuple):
    """The assistant message of a reply, plain or assembled from a stream.

    `place` is that of the choice. A streamed choice has a place in the assembled reply, such as
    `/0/response/choices/0`; its calls have the place at which the stream opens them, such as
    `/0/response/7/choices/0/delta/…`. `texts`: the whole text under each key of a stream that is not known, of which
    the message has the last fragment.
    """

    place: Place
    message: dict[str, Any]
    finish_reason: Any
    calls: list[Call]
    request: dict[str, Any] | None
    streamed: bool
    complete: bool
    texts: Mapping[str, str]


class Streamed(NamedTuple):
    """The event stream of a reply, assembled; `has_calls`: whether it contains tool calls."""

    place: Place
    value: Stream
    request: dict[str, Any] | None
    has_calls: bool

    def ordinary(self) -> list[int]:
        """Return the numbers of the chunks that repeat no other, report no error and do not follow the end mark."""
        chunks, late = self.value.chunks, self.value.anomalies.get("after-done")
        end = int(late[0].at[0]) if late else len(chunks)
        every = zip(chunks.special, chunks.special_objects(), strict=True)
        return [number for number, chunk in every if "error" not in chunk and number < end]


class AnyStream(NamedTuple):
    """The event stream of a reply on any wire, and the errors that its events report."""

    place: Place
    errors: Sequence[Anomaly]


class FailedExchange(NamedTuple):
    """A failed exchange: where its answer says so, what it says, which is None without a body, and the exchange."""

    place: Place
    value: Any
    exchange: Exchange


class Resent(NamedTuple):
    """A message of a later request that sends an earlier reply back; `current` as for a turn.

    `rank`: the number of the reply, and that of the request: its place among those of a conversation.
    """

    place: Place
    value: dict[str, Any]
    reply: Reply
    current: bool
    rank: tuple[int, int] = (0, 0)


class Body(NamedTuple):
    """A whole body, of a request, a reply, a chunk or an error, and the exchange that it belongs to."""

    place: Place
    value: Any
    exchange: Exchange


class Usage(NamedTuple):
    """A usage object, and the request whose reply it belongs to."""

    place: Place
    value: dict[str, Any]
    request: dict[str, Any] | None
    streamed: bool


def calls_of(tool_calls: list[Any], place: Place, request: dict[str, Any] | None) -> list[Call]:
    """Return the calls in a `tool_calls` list; `place` is that of the message."""
    calls = []
    for position, value in enumerate(tool_calls):
        if type(value) is dict:
            function = value.get("function")
            if type(function) is not dict:
                function = {}
            at = (*place, "tool_calls", position)
            calls.append(
                Call(at, value, value.get("id"), function.get("name"), function.get("arguments"), position, request)
            )
    return calls
