"""Where the rules of native wires look: the bodies as they were, with their own places.

A rule that names its wire sees only the elements of that wire.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.index import Index
from conformance.wire.native import Native
from conformance.wire.values import objects
from conformance.wire.views import Side, View


class NativeBody(NamedTuple):
    """A native value, where it is, and the exchange that it belongs to."""

    place: Place
    value: Any
    native: Native


class NativeMessage(NamedTuple):
    """A message of a native request; `number` is its position among the `siblings`."""

    place: Place
    value: dict[str, Any]
    number: int
    siblings: list[Any]
    native: Native

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


def _messages(number: int, native: Native) -> Iterator[NativeMessage]:
    listed: Any = native.request.get("messages") if type(native.request) is dict else None
    for position, message in objects(listed):
        yield NativeMessage((number, "request", "messages", position), dict(message), position, listed, native)


requests: Final = native_view("native request", Side.CLIENT, _request)
messages: Final = native_view("message of a native request", Side.CLIENT, _messages)
replies: Final = native_view("native reply", Side.PROVIDER, _reply)
streams: Final = native_view("native stream", Side.PROVIDER, _stream)
events: Final = native_view("event of a native stream", Side.PROVIDER, _event, _count_events)
