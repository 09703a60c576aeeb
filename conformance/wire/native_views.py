"""Where the rules of native wires look: the bodies as they were, with their own places.

A rule that names its wire sees only the elements of that wire.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.index import Index
from conformance.wire.native import Native
from conformance.wire.values import as_word
from conformance.wire.views import Side, View


class NativeBody(NamedTuple):
    """A native value, where it is, and the exchange that it belongs to."""

    place: Place
    value: Any
    native: Native


class NativeMessage(NamedTuple):
    """A message of a native request; `number` is its position among the `siblings`, `kinds` the types of its blocks."""

    place: Place
    value: dict[str, Any]
    number: int
    siblings: list[Any]
    native: Native
    kinds: frozenset[str]

    @property
    def is_prefill(self) -> bool:
        """Whether the model continues this message: the last one, by the assistant."""
        return self.value.get("role") == "assistant" and self.number == len(self.siblings) - 1


def native_view(
    name: str,
    side: Side,
    read: Callable[[int, Native], Iterator[Any]],
    count_quickly: Callable[[Index, int], int] | None = None,
) -> View:
    """Return a view of what a function yields for each native exchange, given its number."""

    def of(index: Index, number: int) -> Sequence[Any]:
        native = index.conversation[number].native
        return () if native is None else list(read(number, native))

    return View(name, side, of, count_quickly)


def _request(number: int, native: Native) -> Iterator[NativeBody]:
    if type(native.request) is dict:
        yield NativeBody((number, "request"), native.request, native)


def _reply(number: int, native: Native) -> Iterator[NativeBody]:
    if native.reply is not None:
        yield NativeBody((number, "response"), native.reply, native)


def _stream(number: int, native: Native) -> Iterator[NativeBody]:
    if native.events:
        yield NativeBody((number, "response"), native.events, native)


def _event(number: int, native: Native) -> Iterator[NativeBody]:
    for position, event in enumerate(native.events):
        yield NativeBody((number, "response", position), event.value, native)


def _count_events(index: Index, number: int) -> int:
    native = index.conversation[number].native
    return 0 if native is None else len(native.events)


class MessageKinds:
    """Finds the types of the blocks in each message of a request, once for messages that later requests repeat."""

    def __init__(self) -> None:
        """Begin without any exchange."""
        self._found: list[tuple[list[Any], list[frozenset[str]]]] = []

    def add(self, index: Index, number: int) -> list[frozenset[str]]:
        """Return the types in each message of the next exchange, by position."""
        native, earlier = index.conversation[number].native, index.parts[number].earlier
        request: Any = None if native is None else native.request
        listed = request.get("messages") if type(request) is dict else None
        before, known = ([], []) if earlier is None else self._found[earlier.number]
        found: list[frozenset[str]] = []
        for position, message in enumerate(listed if type(listed) is list else ()):
            is_known = position < len(before) and before[position] is message
            found.append(known[position] if is_known else _kinds(message))
        self._found.append((listed if type(listed) is list else [], found))
        return found


def _kinds(message: Any) -> frozenset[str]:
    content = message.get("content") if type(message) is dict else None
    blocks = content if type(content) is list else ()
    return frozenset([as_word(block.get("type")) for block in blocks if type(block) is dict])


def kinds_in(index: Index, number: int) -> frozenset[str]:
    """Return the types of all blocks in the messages of a request."""
    return frozenset().union(*index.grown(MessageKinds, number))


def _messages_of(index: Index, number: int) -> Sequence[NativeMessage]:
    native = index.conversation[number].native
    request: Any = None if native is None else native.request
    if native is None or type(request) is not dict:
        return ()
    listed: Any = request.get("messages")
    kinds = index.grown(MessageKinds, number)
    return [
        NativeMessage((number, "request", "messages", at), message, at, listed, native, kinds[at])
        for at, message in enumerate(listed if type(listed) is list else ())
        if type(message) is dict
    ]


requests: Final = native_view("native request", Side.CLIENT, _request)
messages: Final = View("message of a native request", Side.CLIENT, _messages_of)
replies: Final = native_view("native reply", Side.PROVIDER, _reply)
streams: Final = native_view("native stream", Side.PROVIDER, _stream)
events: Final = native_view("event of a native stream", Side.PROVIDER, _event, _count_events)
