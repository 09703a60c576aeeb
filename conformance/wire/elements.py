"""The parts of a conversation that rules judge: tuples that point into its own values, each with its place."""

from typing import Any, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.assemble import Stream
from conformance.wire.exchange import Exchange


class Message(NamedTuple):
    """A message of a request; `request` is the body and `number` the position among its messages."""

    place: Place
    value: dict[str, Any]
    role: Any
    number: int
    request: dict[str, Any]


class Call(NamedTuple):
    """A tool call, of a request's history or of a reply; `position` is its place among the calls of its message."""

    place: Place
    value: dict[str, Any]
    id: Any
    name: Any
    arguments: Any
    position: int
    request: dict[str, Any] | None


class Result(NamedTuple):
    """A tool message of a request.

    `turn` is the tool turn before it, with no other assistant message in between (None: there is none);
    `adjacent` says whether nothing but tool messages stands between the two.
    """

    place: Place
    value: dict[str, Any]
    id: Any
    turn: "Turn | None"
    adjacent: bool
    number: int


class Turn(NamedTuple):
    """An assistant message with tool calls in a request's history, and the results that follow it.

    `ids`: those of the calls, in their order. `current`: no user message comes after it, so that the model is still
    within this loop. `paired`: the results directly follow and bear the ids of the calls in the calls' order, so that
    nothing can be wrong with the pairing.
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
        """Return the calls as parts."""
        return calls_of(self.value["tool_calls"], self.place, self.request)


class Reply(NamedTuple):
    """The assistant message that a provider replied with, plain or put together from a stream.

    `place` leads to the choice; that of a stream is one of what the stream was put together to, as
    `/0/response/choices/0`, while its calls stand where the stream opens them, as `/0/response/7/choices/0/delta/…`.
    """

    place: Place
    message: dict[str, Any]
    finish_reason: Any
    calls: list[Call]
    request: dict[str, Any] | None
    streamed: bool
    complete: bool


class Streamed(NamedTuple):
    """The event stream of a reply, put together."""

    place: Place
    value: Stream
    request: dict[str, Any] | None

    @property
    def has_calls(self) -> bool:
        """Say whether the stream holds tool calls."""
        return any(choice.calls for choice in self.value.choices)


class Resent(NamedTuple):
    """A message of a later request that carries an earlier reply back."""

    place: Place
    value: dict[str, Any]
    reply: Reply
    current: bool


class Body(NamedTuple):
    """A whole body: of a request, a reply, a chunk or an error; `exchange` is what it came in."""

    place: Place
    value: Any
    exchange: Exchange


class Usage(NamedTuple):
    """A token count, and the request whose reply it counts."""

    place: Place
    value: dict[str, Any]
    request: dict[str, Any] | None
    streamed: bool


def calls_of(listed: list[Any], place: Place, request: dict[str, Any] | None) -> list[Call]:
    """Return the calls among the items of a `tool_calls` list; `place` is that of the message."""
    calls = []
    for position, value in enumerate(listed):
        if type(value) is dict:
            function = value.get("function")
            if type(function) is not dict:
                function = {}
            at = (*place, "tool_calls", position)
            calls.append(
                Call(at, value, value.get("id"), function.get("name"), function.get("arguments"), position, request)
            )
    return calls
