"""A request of chat completions as it is sent on another wire, and what of it that wire cannot hold.

What is left out of messages, the wire's own folder names. Parameters and tools are compared with what they are when the
native body is read again.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.convert.egress import Note
from conformance.documents.pointer import Place, parse, render
from conformance.wire.exchange import Exchange
from conformance.wire.losses import Losses
from conformance.wires import as_sent, by_name

_LEFT_OUT: Final = "left out: the wire has no place for it"
_LIMITS: Final = ("max_tokens", "max_completion_tokens")
_WAY_BACK: Final = "comes back"
"""How reasons begin that matter only if the messages are read again: what is sent says the same."""


class NativeRequest(NamedTuple):
    """A request on another wire, as the exchange that the rules check, and a note of each value that it lacks."""

    exchange: Exchange
    notes: tuple[Note, ...]

    @property
    def body(self) -> Any:
        """Return the body that is sent."""
        return self.exchange.request if self.exchange.native is None else self.exchange.native.request


def native_request(
    body: Mapping[str, Any], origins: Sequence[int], wire: str, at: Place = ("messages",)
) -> NativeRequest:
    """Return a request of chat completions as one of another wire: "messages", "responses" or "gemini".

    `body` is what `prepare` made acceptable. `origins` are the positions of its messages in the transcript, and `at`
    the place of the transcript in what the caller has: notes point there. What is left out of what the user or a tool
    said cannot be fixed. Raises UnknownName if there is no such wire.
    """
    losses = Losses()
    messages = by_name(wire).writing.hold(body["messages"], losses)
    exchange = as_sent({**body, "messages": messages}, wire)
    notes = [*_of_parameters(body, exchange), *_of_tools(body, exchange.request)]
    for pointer, reason in losses.converted(None).lost:
        if reason.startswith(_WAY_BACK):
            continue
        position, *inside = parse(pointer)
        place = render((*at, origins[int(position)], *inside))
        notes.append(Note(place, reason, fixed=not _is_medium(body["messages"][int(position)], inside)))
    return NativeRequest(exchange, tuple(notes))


def _is_medium(message: Mapping[str, Any], place: Sequence[str]) -> bool:
    """Return whether a place inside a message is a whole part of its content, and no text."""
    match place:
        case ["content", number]:
            return "text" not in message["content"][int(number)]
    return False


def _of_parameters(body: Mapping[str, Any], sent: Exchange) -> Iterator[Note]:
    """Yield a note for each parameter that is not read again from what is sent, nor stands there under its own name."""
    native = sent.request if sent.native is None else sent.native.request
    for key, value in body.items():
        names = _LIMITS if key in _LIMITS else (key,)
        found = [each[name] for each in (native, sent.request) for name in names if name in each]
        if key not in ("messages", "tools") and value is not None and value not in found:
            yield Note(render((key,)), _LEFT_OUT)


def _of_tools(body: Mapping[str, Any], again: Mapping[str, Any]) -> Iterator[Note]:
    read = [tool["function"] for tool in again.get("tools") or ()]
    for number, tool in enumerate(body.get("tools") or ()):
        function = tool.get("function", {})
        other: Mapping[str, Any] = next((each for each in read if each.get("name") == function.get("name")), {})
        for key, value in function.items():
            if value is not None and other.get(key) != value:
                yield Note(render(("tools", number, "function", key)), _LEFT_OUT)
