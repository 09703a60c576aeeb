"""Failures: what answers say went wrong, wherever their wire, their host or a gateway puts it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.exchange import Exchange

if TYPE_CHECKING:
    from conformance.wire.index import Index

FIRST_ERROR: Final = 400
"""The first HTTP status that is an error."""


class FailedExchange(NamedTuple):
    """A failed exchange: where its answer says so, what it says, which is None without a body, and the exchange."""

    place: Place
    value: Any
    exchange: Exchange


def find_failures(index: "Index") -> Iterator[FailedExchange]:
    """Yield one failure for each exchange that has any: by its status, in its body, or in an event of its stream."""
    streams = {stream.place[0]: stream for stream in index.streams if stream.value.error is not None}
    for number, exchange in enumerate(index.conversation):
        place = (number, "response")
        received = exchange.response if exchange.native is None else exchange.native.response
        if (exchange.status or 0) >= FIRST_ERROR:
            yield FailedExchange(place, received, exchange)
        elif number in streams:
            stream = streams[number].value
            yield FailedExchange((*place, *stream.anomalies["error-in-band"][0].at), stream.error, exchange)
        elif exchange.native is not None and (error := exchange.native.error()) is not None:
            yield FailedExchange((*place, *error[0]), error[1], exchange)
        elif type(received) is dict and (found := _in_body(received)) is not None:
            yield FailedExchange((*place, *found[0]), found[1], exchange)


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
    return None
