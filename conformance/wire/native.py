"""What an exchange was on its own wire, before it was translated into chat completions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.repeats import Fragments, StreamedText

CHAT: Final = "chat"
"""The name of the canonical wire, which needs no translation."""

OWN: Final = "own"
"""The key of a message, or of a whole request, that holds its form on another wire, which is written as it is.

So what a provider said goes back as it came. No body on any wire has the key.
"""


_OWN: Final = frozenset({"candidates", "content", "output"})
"""The keys under which native replies have what chat completions have under `choices`."""

_LISTS: Final = frozenset({"contents", "input", "messages", "system", "tools"})
"""The keys of native requests whose parts are mapped one by one."""


class NativeEvent(NamedTuple):
    """An event of a native stream: its name, empty if it has none, and its data; None if that is not JSON."""

    name: str
    value: Any


class Irregularity(NamedTuple):
    """What is wrong with the order or the numbers of a native stream: its kind, where it is, and what was expected."""

    kind: str
    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Native:
    """An exchange of another wire, as it was.

    `protocol`: the name of the wire. `request` and `response`: the bodies as received; a stream is text.
    `events`: those of a stream, in order. `reply`: the reply, or what a stream adds up to; None if there is none.
    `complete`: whether the reply says that it is finished. `irregularities`: what assembling a stream found wrong.
    `continuing`: the numbers of the events that only continue the text of the event before, and so are of its shape.
    `places`: where the parts of the translated exchange come from, by their place in it; neither has the number of the
    exchange. `facts`: what has no counterpart in chat completions, by name. `held`: the numbers of the messages that
    the client did not send, because the server holds them; None if it holds none. `fragments`: the texts of a stream,
    in the fragments in which they came.
    """

    protocol: str
    request: Any = None
    response: Any = None
    events: tuple[NativeEvent, ...] = ()
    reply: dict[str, Any] | None = None
    complete: bool = True
    irregularities: tuple[Irregularity, ...] = ()
    places: Mapping[Place, Place] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    held: range | None = None
    continuing: frozenset[int] = frozenset()
    fragments: tuple[Fragments, ...] = ()

    def place(self, canonical: Place) -> Place:
        """Return where a part of the translated exchange comes from; both places begin with the exchange's number.

        A place in the native reply itself stays: that of an event, since no translated exchange is streamed, or one
        under a key that no translated reply has.
        """
        number, *inside = canonical
        if len(inside) > 1 and (type(inside[1]) is int or inside[1] in _OWN):
            return canonical
        # The longest known place wins: a part that was not mapped is shown at what contains it.
        for end in range(len(inside), 0, -1):
            found = self.places.get(tuple(inside[:end]))
            if found is not None:
                return (number, *found)
        return (number, *self._parameter(inside))

    def _parameter(self, inside: Sequence[Any]) -> Place:
        """Return the part of a place that is a parameter of the native request, or else the body alone."""
        found = [*inside[:1]]
        value = self.request if found == ["request"] and not _LISTS.issuperset(inside[1:2]) else None
        for key in inside[1:]:
            if type(value) is not dict or key not in value:
                break
            found.append(key)
            value = value[key]
        return tuple(found)

    def error(self) -> tuple[Place, Any] | None:
        """Return the first error that the events of a stream report, and the place of its event; None without one.

        Responses repeats an error in the event that ends the response.
        """
        for number, event in enumerate(self.events if "error" in self.facts else ()):
            value = event.value if type(event.value) is dict else {}
            error = value.get("error") or (value if value.get("type") == "error" else None)
            if value.get("type") == "response.failed" and type(value.get("response")) is dict:
                error = value["response"].get("error")
            if error:
                return (number,), error
        return None

    def texts(self, number: int) -> Sequence[StreamedText]:
        """Return the texts of a stream; `number` is that of the exchange."""
        if not self.fragments:
            return ()
        values = [event.value for event in self.events]
        return [StreamedText((number, "response"), name, texts, values) for name, texts in self.fragments]
