"""Where the rules of native wires look: the bodies as they were, with their own places.

A rule that names its wire sees only the elements of that wire.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from operator import itemgetter
from typing import Any, Final, Generic, NamedTuple, TypeVar

from conformance.documents.pointer import Place
from conformance.wire.index import Index
from conformance.wire.native import Native
from conformance.wire.values import as_word, count_shared
from conformance.wire.views import Side, View

T = TypeVar("T")

_SPECIAL: Final = frozenset({"thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use"})
_LISTS: Final = {"messages": "messages", "responses": "input", "gemini": "contents"}


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


class NativeMessages(NamedTuple):
    """The messages, items or contents of a native request, and how many it has in common with that of the earlier part.

    Those in common are the same objects.
    """

    listed: list[Any]
    earlier: int
    common: int


class _Continuing:
    """Finds what native requests have in common, one exchange after the other."""

    def __init__(self) -> None:
        self._found: list[list[Any]] = []

    def add(self, index: Index, number: int) -> NativeMessages:
        native, earlier = index.conversation[number].native, index.parts[number].earlier
        request: Any = None if native is None else native.request
        listed = request.get(_LISTS.get(native.protocol, "")) if native is not None and type(request) is dict else None
        own: list[Any] = listed if type(listed) is list else []
        self._found.append(own)
        common = 0 if earlier is None else count_shared(self._found[earlier.number], own)
        return NativeMessages(own, -1 if earlier is None else earlier.number, common)


def native_messages(index: Index, number: int) -> NativeMessages:
    """Return the messages of a native request."""
    return index.grown(_Continuing, number)


def has_all_before(index: Index, number: int) -> bool:
    """Return whether a native request begins with all messages of the earlier part, which has any."""
    _, earlier, common = native_messages(index, number)
    return common > 0 and common == len(native_messages(index, earlier).listed)


class _PerMessage(Generic[T]):
    """What a function finds in each message of native requests, asked once for those that later requests repeat."""

    def __init__(self, find: Callable[[Any], T]) -> None:
        self._find = find
        self._found: list[list[T]] = []

    def add(self, index: Index, number: int) -> list[T]:
        listed, earlier, common = native_messages(index, number)
        found = self._found[earlier][:common] if common else []
        found += map(self._find, listed[common:])
        self._found.append(found)
        return found


class _NotEmpty(Generic[T]):
    """What a function finds in messages of native requests, as above, with positions and without what is empty."""

    def __init__(self, find: Callable[[Any], T]) -> None:
        self._find = find
        self._found: list[list[tuple[int, T]]] = []

    def add(self, index: Index, number: int) -> list[tuple[int, T]]:
        listed, earlier, common = native_messages(index, number)
        before = self._found[earlier] if common else []
        found = before[: bisect_left(before, common, key=itemgetter(0))]
        for position in range(common, len(listed)):
            if own := self._find(listed[position]):
                found.append((position, own))
        self._found.append(found)
        return found


@cache
def _growth(kind: Callable[[Any], Any], find: Callable[[Any], Any]) -> Callable[[], Any]:
    """Return the same object for the same function, by which an index knows what it has found."""
    return partial(kind, find)


def in_messages(index: Index, number: int, find: Callable[[Any], T]) -> list[tuple[int, T]]:
    """Return what a function of this package finds in each message of a native request, with the message's position.

    It is asked once for each message, however many requests repeat it; what is empty is left out.
    """
    found: list[tuple[int, T]] = index.grown(_growth(_NotEmpty, find), number)
    return found


def message_kinds(index: Index, number: int) -> list[frozenset[str]]:
    """Return the types of the blocks in each message of a request, by position."""
    found: list[frozenset[str]] = index.grown(_growth(_PerMessage, _kinds), number)
    return found


def _kinds(message: Any) -> frozenset[str]:
    content = message.get("content") if type(message) is dict else None
    blocks = content if type(content) is list else ()
    return frozenset([as_word(block.get("type")) for block in blocks if type(block) is dict])


class _AllKinds:
    """Finds the types of all blocks in native requests, one exchange after the other."""

    def __init__(self) -> None:
        self._found: list[frozenset[str]] = []

    def add(self, index: Index, number: int) -> frozenset[str]:
        _, earlier, common = native_messages(index, number)
        kinds, before, start = message_kinds(index, number), frozenset[str](), 0
        if has_all_before(index, number):
            before, start = self._found[earlier], common
        self._found.append(before.union(*kinds[start:]))
        return self._found[-1]


def kinds_in(index: Index, number: int) -> frozenset[str]:
    """Return the types of all blocks in the messages of a request."""
    found: frozenset[str] = index.grown(_AllKinds, number)
    return found


def _messages_of(index: Index, number: int) -> Sequence[NativeMessage]:
    return _messages_between(index, NativeSpan(number, 0, len(native_messages(index, number).listed)))


class NativeSpan(NamedTuple):
    """Native messages of a request from one position to another."""

    number: int
    begin: int
    end: int


def _messages_between(index: Index, span: NativeSpan) -> Sequence[NativeMessage]:
    number = span.number
    native = index.conversation[number].native
    if native is None or native.protocol != "messages":
        return ()
    listed, kinds = native_messages(index, number).listed, message_kinds(index, number)
    return [
        NativeMessage((number, "request", "messages", at), listed[at], at, listed, native, kinds[at])
        for at in range(span.begin, span.end)
        if type(listed[at]) is dict
    ]


def _special_messages(index: Index, number: int) -> Sequence[NativeMessage]:
    found = in_messages(index, number, _is_special)
    return [each for at, _ in found for each in _messages_between(index, NativeSpan(number, at, at + 1))]


def _is_special(message: Any) -> bool:
    return type(message) is dict and (message.get("role") == "system" or not _SPECIAL.isdisjoint(_kinds(message)))


requests: Final = native_view("native request", Side.CLIENT, _request)
messages: Final = View("message of a native request", Side.CLIENT, _messages_of, between=_messages_between, native=True)
special_messages: Final = View("message of a native request", Side.CLIENT, _special_messages)
"""Messages that instruct, think or call tools of the server; all others are passed over, however many there are."""
replies: Final = native_view("native reply", Side.PROVIDER, _reply)
streams: Final = native_view("native stream", Side.PROVIDER, _stream)
events: Final = native_view("event of a native stream", Side.PROVIDER, _event, _count_events)
