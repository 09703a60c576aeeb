"""Where the rules of Responses look, beside the views of all native wires: items that requests send.

Each item is compared with the reply that it comes from, if that is at hand: found by its id, its blob or its call id. A
message with a phase is also found by its text, since clients may send messages without ids.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.index import Index
from conformance.wire.native import Native
from conformance.wire.native_views import NativeSpan, has_all_before, native_messages
from conformance.wire.values import as_object, objects
from conformance.wire.views import Side, View
from conformance.wires.responses import NAME
from conformance.wires.responses.kinds import CALLS, kind_of
from conformance.wires.responses.pairing import answering_keys, calling_keys

_ADDED: Final = "response.output_item.added"
_SAID: Final = "text"
"""Messages of the assistant may be sent without an id; one with a phase is then found by its text."""


class Origin(NamedTuple):
    """An item of a reply.

    `before`: the last reasoning item before it; None if there is none. `after`: the item that follows it; None if it is
    the last. `stored`: whether the server keeps it. `unfinished`: the blob that it was added with, if that was another.
    `led_to_by`: the reasoning item directly before it.
    """

    value: Mapping[str, Any]
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    stored: bool
    unfinished: str | None
    led_to_by: Mapping[str, Any] | None = None


class SentItem(NamedTuple):
    """An item of a request's input.

    `number`: its position in the input. `siblings`: all items of the input. `origin`: the item of an earlier reply that
    it sends back; None if it is not at hand. `lacks`: the reasoning item that stands before it in the reply, but not in
    this input; None if none does.
    """

    place: Place
    value: Mapping[str, Any]
    kind: str
    number: int
    siblings: Sequence[Any]
    origin: Origin | None
    lacks: Mapping[str, Any] | None
    native: Native

    @property
    def id(self) -> str:
        """Return the item's id; empty if it has none."""
        return _text(self.value, "id")

    @property
    def following(self) -> Mapping[str, Any] | None:
        """Return the item that follows in the input; None if this is the last."""
        return as_object(self.siblings[self.number + 1]) if self.number + 1 < len(self.siblings) else None


class Held(NamedTuple):
    """The items of a reply, by what they are found by, and those of the replies that it continues."""

    items: frozenset[tuple[str, str]] = frozenset()
    earlier: "Held | None" = None

    def has(self, key: str, value: str) -> bool:
        """Return whether an item has that `id` or `call_id`."""
        at: Held | None = self
        while at is not None:
            if (key, value) in at.items:
                return True
            at = at.earlier
        return False

    def __bool__(self) -> bool:
        """Return whether it holds anything."""
        return bool(self.items or self.earlier)


class SentState(NamedTuple):
    """A request that refers to what the server holds.

    `stored`: whether the response that it names was kept; None if it is not at hand. `held`: the items of the replies
    that led to it.
    """

    place: Place
    value: Mapping[str, Any]
    stored: bool | None
    native: Native
    held: Held


_NOTHING: Final = Held()


def _native(index: Index, number: int) -> Native | None:
    native = index.conversation[number].native
    return native if native is not None and native.protocol == NAME else None


class _KnownItem(NamedTuple):
    """What is known of an item of a request whatever follows it; as in `SentItem`."""

    kind: str
    origin: Origin | None
    lacks: Mapping[str, Any] | None


class _KnownItems(NamedTuple):
    """The items of a request by position, None for what is no object.

    `seen`: what its reasoning and its references are found by, with their positions. `held`: how many items at the
    beginning are as in the request that it continues.
    """

    items: list[_KnownItem | None]
    seen: dict[str, int]
    held: int


class _SentItems:
    """Finds the items of replies that requests send back, one request after the other.

    For items that an earlier request had, what was found there holds, unless a reply that came since is found by what
    they were looked up by.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Origin | None] = {}
        self._asked: set[tuple[str, str]] = set()
        self._changed = -1
        self._found: list[_KnownItems] = []

    def add(self, index: Index, number: int) -> _KnownItems:
        native = _native(index, number)
        listed, earlier, common = native_messages(index, number)
        items: list[_KnownItem | None] = []
        seen: dict[str, int] = {}
        held = common if native is not None and self._changed < earlier else 0
        if held:
            before = self._found[earlier]
            items = before.items[:held]
            is_whole = held == len(before.items)
            seen = dict(before.seen) if is_whole else {key: at for key, at in before.seen.items() if at < held}
        for position in range(held, len(listed) if native is not None else 0):
            item = listed[position]
            items.append(self._item(item, position, seen) if type(item) is dict else None)
        for origin in () if native is None else _origins(native):
            self._take(origin, number)
        self._found.append(_KnownItems(items, seen, held))
        return self._found[-1]

    def _item(self, item: Mapping[str, Any], position: int, seen: dict[str, int]) -> _KnownItem:
        """Return what is known of an item at a position, and add what it is found by to what was seen before it."""
        kind, keys = kind_of(item), _keys(item)
        looked_up = keys
        if kind == "message" and "id" not in item and item.get("role") == "assistant":
            looked_up = [*keys, (_SAID, _said(item))]
        origin = None
        for key in looked_up:
            self._asked.add(key)
            origin = self._known.get(key)
            if origin is not None:
                break
        before = None if origin is None else origin.before if kind in CALLS else origin.led_to_by
        lacks = None if before is None or not seen.keys().isdisjoint(_values(before)) else before
        if kind in ("reasoning", "item_reference"):
            for value in [*[value for _, value in keys], *(() if origin is None else _values(origin.value))]:
                seen.setdefault(value, position)
        return _KnownItem(kind, origin, lacks)

    def _take(self, origin: Origin, number: int) -> None:
        """Take an item of the reply to a request, which can be sent back from now on."""
        keys = _keys(origin.value)
        if origin.unfinished is not None:
            keys.append(("encrypted_content", origin.unfinished))
        if origin.value.get("phase") is not None:
            keys.append((_SAID, _said(origin.value)))
        for key in keys:
            known = self._known.get(key, origin)
            own = _text(origin.value, "id")
            is_same = known is origin or (known is not None and _text(known.value, "id") == own != "")
            # Where a host gives several calls one id, none of them is meant for sure.
            is_used_again = key[0] == "call_id" and not is_same
            if known is not None or not is_used_again:
                self._known[key] = None if is_used_again else origin
                if key in self._asked:
                    self._changed = number


class _Pairs(NamedTuple):
    """Where calls of tools that are not functions, and their outputs, stand in an input.

    `first`: the position of the first call, by its kind and what pairs it. `last`: that of the last output, by the kind
    of the calls that it answers, empty for any, and by what pairs it.
    """

    first: dict[tuple[str, Any], int]
    last: dict[tuple[str, Any], int]


class _PairedItems:
    """Finds these calls and outputs, one request after the other."""

    def __init__(self) -> None:
        self._found: list[_Pairs] = []

    def add(self, index: Index, number: int) -> _Pairs:
        listed, earlier, common = native_messages(index, number)
        start, pairs = 0, _Pairs({}, {})
        if has_all_before(index, number):
            before = self._found[earlier]
            start, pairs = common, _Pairs(dict(before.first), dict(before.last))
        for position in range(start, len(listed) if _native(index, number) is not None else 0):
            item = listed[position]
            kind = kind_of(item) if type(item) is dict else ""
            for key in calling_keys(kind, item) if kind else ():
                pairs.first.setdefault(key, position)
            for key in answering_keys(kind, item) if kind else ():
                pairs.last[key] = position
        self._found.append(pairs)
        return pairs


def is_answered(index: Index, item: SentItem) -> bool:
    """Return whether an output that answers a call, which is not one of a function, stands behind it."""
    last = index.grown(_PairedItems, int(item.place[0])).last
    keys = [each for kind, key in calling_keys(item.kind, item.value) for each in ((kind, key), ("", key))]
    return any([last.get(key, -1) > item.number for key in keys])


def is_called(index: Index, item: SentItem) -> bool:
    """Return whether the call that an output answers, which is not one of a function, stands before it."""
    first = index.grown(_PairedItems, int(item.place[0])).first
    return any([first.get(key, item.number) < item.number for key in answering_keys(item.kind, item.value)])


def _sent_items(index: Index, number: int) -> Sequence[SentItem]:
    return _items_between(index, NativeSpan(number, 0, len(native_messages(index, number).listed)))


def _items_between(index: Index, span: NativeSpan) -> Sequence[SentItem]:
    native = _native(index, span.number)
    if native is None:
        return ()
    listed, items = native_messages(index, span.number).listed, index.grown(_SentItems, span.number).items
    return [
        SentItem((span.number, "request", "input", at), listed[at], known.kind, at, listed, *known[1:], native)
        for at in range(span.begin, span.end)
        if (known := items[at]) is not None
    ]


def _held_items(index: Index, number: int) -> int:
    held: int = index.grown(_SentItems, number).held
    return held


def _origins(native: Native) -> Iterator[Origin]:
    """Yield the items of a reply."""
    reply = native.reply or {}
    begun = {_text(item, "id"): _text(item, "encrypted_content") for item in _begun(native)}
    stored = is_stored(native)
    items = [item for _, item in objects(reply.get("output"))]
    before = None
    for position, item in enumerate(items):
        blob = begun.get(_text(item, "id"))
        unfinished = blob if blob and blob != item.get("encrypted_content") else None
        after = items[position + 1] if position + 1 < len(items) else None
        led_to_by = before if position and items[position - 1] is before else None
        yield Origin(item, before, after, stored, unfinished, led_to_by)
        if item.get("type") == "reasoning":
            before = item


def is_stored(native: Native) -> bool:
    """Return whether the server keeps the reply of an exchange."""
    stored = (native.reply or {}).get("store", as_object(native.request).get("store"))
    return stored is not False


def _begun(native: Native) -> Iterator[Mapping[str, Any]]:
    for event in native.events:
        value = as_object(event.value)
        if value.get("type") == _ADDED:
            yield as_object(value.get("item"))


def _keys(item: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what an item of a reply is found by, the surest first."""
    kind = kind_of(item)
    keys = ["encrypted_content"] if kind == "reasoning" else []
    keys += ["id", "call_id"] if kind in CALLS else ["id"]
    return [(key, item[key]) for key in keys if type(item.get(key)) is str and item[key]]


def _values(item: Mapping[str, Any]) -> list[str]:
    return [value for _, value in _keys(item)]


def _said(message: Mapping[str, Any]) -> str:
    """Return the text of a message."""
    content = message.get("content")
    return content if type(content) is str else "".join([_text(part, "text") for _, part in objects(content)])


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    return value if type(value) is str else ""


class _SentStates:
    """Finds the requests that refer to what the server holds."""

    def __init__(self) -> None:
        self._kept: dict[str, bool] = {}
        self._held: dict[str, Held] = {}

    def add(self, index: Index, number: int) -> Sequence[SentState]:
        native = _native(index, number)
        if native is None:
            return ()
        request, found = as_object(native.request), []
        previous = request.get("previous_response_id")
        held = self._held.get(previous, _NOTHING) if type(previous) is str else _NOTHING
        if previous is not None or request.get("conversation") is not None:
            stored = self._kept.get(previous) if type(previous) is str else None
            found.append(SentState((number, "request"), request, stored, native, held))
        reply = native.reply or {}
        identity = _text(reply, "id")
        if identity:
            self._kept[identity] = is_stored(native)
            keys = [key for _, item in objects(reply.get("output")) for key in _keys(item)]
            self._held[identity] = Held(frozenset(keys), held or None)
        return found


def _sent_states(index: Index, number: int) -> Sequence[SentState]:
    return index.grown(_SentStates, number)


sent_items: Final = View(
    "item that a request sends", Side.CLIENT, _sent_items, between=_items_between, native=True, held=_held_items
)
sent_states: Final = View("request that continues what the server holds", Side.CLIENT, _sent_states)
