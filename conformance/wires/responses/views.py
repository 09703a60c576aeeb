"""Where the rules of Responses look, beside the views of all native wires: items that requests send.

Each item is compared with the reply that it comes from, if that is at hand: found by its id, its blob or its call id. A
message with a phase is also found by its text, since clients may send messages without ids.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.index import Index
from conformance.wire.native import Native
from conformance.wire.values import as_object, objects
from conformance.wire.views import Side, View
from conformance.wires.responses import NAME
from conformance.wires.responses.blocks import CALLS, kind_of

_ADDED: Final = "response.output_item.added"


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


class _SentItems:
    """Finds the items that requests send, each with the item of a reply that it sends back."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Origin] = {}
        self._said: dict[str, Origin] = {}
        self._last: list[tuple[Any, str, list[tuple[str, str]]]] = []

    def add(self, index: Index, number: int) -> Sequence[SentItem]:
        native = _native(index, number)
        if native is None:
            return ()
        known, said = self._known, self._said
        found: list[SentItem] = []
        given = as_object(native.request).get("input")
        seen: set[str] = set()
        for item, position, kind, keys in self._listed(given):
            place: Place = (number, "request", "input", position)
            origin = next((known[key] for key in keys if key in known), None)
            if said and origin is None and kind == "message" and "id" not in item and item.get("role") == "assistant":
                origin = said.get(_said(item))
            before = None if origin is None else origin.before if kind in CALLS else origin.led_to_by
            lacks = None if before is None or not seen.isdisjoint(_values(before)) else before
            found.append(SentItem(place, item, kind, position, given or (), origin, lacks, native))
            if kind in ("reasoning", "item_reference"):
                seen |= {*[value for _, value in keys], *(() if origin is None else _values(origin.value))}
        for origin in _origins(native):
            known |= dict.fromkeys(_keys(origin.value), origin)
            if origin.unfinished is not None:
                known["encrypted_content", origin.unfinished] = origin
            if origin.value.get("phase") is not None:
                said[_said(origin.value)] = origin
        return found

    def _listed(self, given: Any) -> Iterator[tuple[Mapping[str, Any], int, str, list[tuple[str, str]]]]:
        """Yield the items of an input with their kinds and keys, which those of the request before have already."""
        before, self._last = self._last, []
        for position, item in objects(given):
            count = len(self._last)
            known = before[count] if count < len(before) and before[count][0] is item else None
            self._last.append(known or (item, kind_of(item), _keys(item)))
            yield item, position, *self._last[-1][1:]


def _sent_items(index: Index, number: int) -> Sequence[SentItem]:
    return index.grown(_SentItems, number)


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


sent_items: Final = View("item that a request sends", Side.CLIENT, _sent_items)
sent_states: Final = View("request that continues what the server holds", Side.CLIENT, _sent_states)
