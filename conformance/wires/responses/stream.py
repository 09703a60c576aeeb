"""The event stream of Responses, assembled to the reply that it adds up to, with everything irregular noted.

Source: https://platform.openai.com/docs/api-reference/responses-streaming

An item counts as it is when it is done: the one that is added may lack text, arguments and encrypted content. The
response at the end repeats the items, and some hosts leave them out there.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.drafts import events_of
from conformance.wire.native import Irregularity, NativeEvent
from conformance.wire.repeats import Fragments
from conformance.wire.sse import read
from conformance.wire.values import as_object
from conformance.wires.responses.items import Item

BEGIN: Final = ("response.created", "response.queued")
_FAILED: Final = "response.failed"
ENDS: Final = ("response.completed", "response.incomplete", _FAILED)
_LIFECYCLE: Final = (*BEGIN, "response.in_progress", *ENDS)
_PADDING: Final = "obfuscation"
_SENTINEL: Final = "[DONE]"
_ASIDE: Final[Mapping[str, str]] = {
    "sequence-missing": "numbering",
    "sequence-not-rising": "numbering",
    "sequence-gap": "numbering",
    "index-missing": "indexes",
    "index-jumps": "indexes",
    "index-taken": "indexes",
    "part-index-missing": "indexes",
    "part-index-jumps": "indexes",
    "item-id-differs": "ids",
    "done-differs": "differences",
    "end-differs": "differences",
    "end-without-output": "differences",
    "items-overlap": "overlaps",
}
"""What is not about the order of events has rules of its own; under which name they find it, by kind."""


class AssembledResponse(NamedTuple):
    """A stream as a reply.

    `reply`: None if the stream does not begin one. `error`: the body of the event that reports one, and its number.
    `places`: where each item of the reply's output is in the stream. `repeated`: the items of the response at the end,
    and as they were added. `end`: the number of the event that ends the response; None if there is none.
    `continuing`: the numbers of the events that only continue a text. `irregularities`: those of the order of events;
    `aside`: all others, by what they are about. `fragments`: the texts in the fragments in which they came.
    """

    events: tuple[NativeEvent, ...]
    reply: dict[str, Any] | None
    error: tuple[int, dict[str, Any]] | None
    places: list[Place]
    repeated: list[Any]
    end: int | None
    continuing: frozenset[int]
    irregularities: tuple[Irregularity, ...]
    aside: Mapping[str, tuple[Irregularity, ...]]
    fragments: tuple[Fragments, ...]


def assemble(text: str) -> AssembledResponse:
    """Return what the events of a stream add up to."""
    assembly = _ResponseAssembly()
    reading = read(text)
    events = events_of(reading)
    if reading.data and reading.data[-1].strip() == _SENTINEL:
        # Some hosts end the stream as they end one of chat completions.
        events = events[:-1]
    for number, event in enumerate(events):
        if not assembly.continues(number, event):
            assembly.add(number, event)
    return assembly.assembled(events)


def _are_of_same_types(value: Mapping[str, Any], like: Mapping[str, Any]) -> bool:
    """Return whether equal values are of the same types, too: in Python, 0 equals false."""
    return list(map(type, value.values())) == list(map(type, like.values()))


class _ResponseAssembly:
    """The state of a stream while its events are read.

    `items`: by `output_index`, in the order of their beginning; without that index, by the item's id. `earlier`: those
    whose index another item took over.
    """

    def __init__(self) -> None:
        self.reply: dict[str, Any] | None = None
        self.error: tuple[int, dict[str, Any]] | None = None
        self.items: dict[Any, Item] = {}
        self.earlier: list[tuple[Any, Item]] = []
        self.open: dict[Any, None] = {}
        self.sequence: int | None = None
        self.is_numbered = True
        self.end: int | None = None
        self.is_over = False
        self.last: tuple[NativeEvent, list[str]] | None = None
        self.continuing: list[int] = []
        self.found: list[Irregularity] = []

    def note(self, kind: str, number: int, message: str) -> None:
        self.found.append(Irregularity(kind, ("response", number), message))

    def continues(self, number: int, event: NativeEvent) -> bool:
        """Read an event that repeats the one before but for its delta, as most do; return whether it is one."""
        value = event.value
        if self.last is None or type(value) is not dict:
            return False
        (name, like), deltas = self.last
        delta, sequence = value.get("delta"), value.get("sequence_number")
        if type(delta) is not str or type(sequence) is not int or self.sequence is None or event.name != name:
            return False
        like |= {"delta": delta, "sequence_number": self.sequence + 1}
        if type(like.get(_PADDING)) is type(value.get(_PADDING)) is str:
            like[_PADDING] = value[_PADDING]
        if value != like or not _are_of_same_types(value, like):
            return False
        self.sequence = sequence
        deltas.append(delta)
        self.continuing.append(number)
        return True

    def add(self, number: int, event: NativeEvent) -> None:
        """Read one event; what comes after the response's end is no part of it."""
        value = as_object(event.value)
        kind = value.get("type")
        self.last = None
        if self.end is not None:
            if not self.is_over:
                self.note("after-end", number, f"expected nothing after the response's end, got {kind!r}")
            self.is_over = True
            return
        if type(kind) is not str:
            self.note("event-untyped", number, f"expected a JSON object with a type, got {event.value!r:.60}")
            return
        if event.name and event.name != kind:
            self.note(
                "event-name", number, f"expected the event to be named {kind!r} as in its data, got {event.name!r}"
            )
        self._number(number, value)
        self._read(number, kind, event.name, value)

    def _read(self, number: int, kind: str, name: str, value: Any) -> None:
        """Read an event of a known type, or about an item."""
        if kind in _LIFECYCLE:
            self._lifecycle(number, kind, value)
        elif kind == "error":
            self.error = number, dict(value)
        elif kind == "response.output_item.added":
            self._begin(number, value)
        elif kind == "response.output_item.done":
            self._finish(number, value)
        elif "output_index" in value or "item_id" in value:
            known = len(self.found)
            deltas = self._extend(number, kind, value)
            if deltas is not None and len(self.found) == known:
                self.last = NativeEvent(name, dict(value)), deltas

    def _number(self, number: int, value: Any) -> None:
        """Compare the number of an event with that of the event before."""
        sequence = value.get("sequence_number")
        if type(sequence) is not int:
            # A server that numbers nothing gets one finding, not one for each event.
            if self.is_numbered:
                self.note("sequence-missing", number, f"expected a sequence_number, a whole number, got {sequence!r}")
            self.is_numbered = False
            return
        if self.sequence is not None and sequence <= self.sequence:
            message = f"expected a sequence_number above {self.sequence}, got {sequence}"
            self.note("sequence-not-rising", number, message)
        elif self.sequence is not None and sequence != self.sequence + 1:
            self.note("sequence-gap", number, f"expected the sequence_number {self.sequence + 1}, got {sequence}")
        self.sequence = sequence

    def _lifecycle(self, number: int, kind: str, value: Any) -> None:
        response = as_object(value.get("response"))
        if kind in BEGIN:
            if self.reply is not None and kind == "response.created" and self.reply.get("status") != "queued":
                self.note("second-begin", number, "expected one response.created, got another one")
        elif self.reply is None:
            self.note("no-begin", number, f"expected response.created first, got {kind!r}")
        self.reply = {**(self.reply or {}), **response}
        if kind in ENDS:
            self.end = number
            # What failed ends as it is: the error says so, and nothing else is wrong with the order.
            if kind != _FAILED:
                self._close(number, response)

    def _close(self, number: int, response: Any) -> None:
        if self.open:
            listed = ", ".join(map(str, self.open))
            self.note("item-not-done", number, f"expected every item to be done, got item {listed} still open")
        self._compare(number, response)

    def _compare(self, number: int, response: Any) -> None:
        """Compare the items of the response at the end with those of the stream."""
        output = response.get("output")
        if type(output) is not list:
            self.note(
                "end-without-output", number, f"expected the output in the response at its end, got {output!r:.40}"
            )
            return
        items = self._in_order()
        if len(output) != len(items):
            message = f"expected the {len(items)} items of the stream in the response at its end, got {len(output)}"
            self.note("end-differs", number, message)
            return
        for position, (given, item) in enumerate(zip(output, items, strict=True)):
            difference = item.difference(as_object(given))
            if difference:
                place: Place = ("response", number, "response", "output", position)
                self.found.append(Irregularity("end-differs", place, difference))

    def _key(self, value: Any, identity: Any) -> Any:
        """Return what tells an item from others: its index, or its id if the server gives no index."""
        index = value.get("output_index")
        return index if type(index) is int else identity if type(identity) is str else None

    def _begin(self, number: int, value: Any) -> None:
        given = as_object(value.get("item"))
        if self.reply is None:
            self.note("no-begin", number, "expected response.created first, got response.output_item.added")
        index, expected = value.get("output_index"), len(self.items) + len(self.earlier)
        if type(index) is not int:
            self.note("index-missing", number, f"expected an output_index, a whole number, got {index!r}")
        elif index != expected:
            self.note("index-jumps", number, f"expected the output_index {expected}, got {index}")
        if self.open:
            listed = ", ".join(map(str, self.open))
            self.note("items-overlap", number, f"expected item {listed} to be done first, got the next one")
        key = self._key(value, given.get("id"))
        key = expected if key is None else key
        if key in self.items:
            self.note("index-taken", number, f"expected an output_index of its own, got {key!r} a second time")
            self.earlier.append((key, self.items[key]))
        self.items[key] = Item(given, number, self.found)
        self.open[key] = None

    def _finish(self, number: int, value: Any) -> None:
        given = as_object(value.get("item"))
        key = self._key(value, given.get("id"))
        if key not in self.open:
            self.note("item-not-open", number, f"expected an item that is open, got {key!r}")
            if key in self.items or key is None:
                return
            self.items[key] = Item(given, number, self.found)
        self.open.pop(key, None)
        self.items[key].finish(number, given)

    def _extend(self, number: int, kind: str, value: Any) -> list[str] | None:
        identity = value.get("item_id")
        key = self._key(value, identity)
        if key not in self.open:
            self.note("item-not-open", number, f"expected an item that is open, got {key!r}")
        elif type(identity) is str and identity != self.items[key].id:
            message = f"expected the item_id {self.items[key].id!r}, as the item has, got {identity!r}"
            self.note("item-id-differs", number, message)
        return self.items[key].extend(number, kind, value) if key in self.items else None

    def _in_order(self) -> list[Item]:
        listed = sorted([*self.earlier, *self.items.items()], key=lambda keyed: _order(keyed[0]))
        return [item for _, item in listed]

    def assembled(self, events: tuple[NativeEvent, ...]) -> AssembledResponse:
        reply, items = self.reply, self._in_order()
        places = [item.place for item in items]
        output = None if reply is None else reply.get("output")
        repeated = list(output) if type(output) is list else []
        if reply is not None and items:
            reply = {**reply, "output": [item.value() for item in items]}
            repeated += [item.begun for item in items]
        elif reply is not None:
            end = 0 if self.end is None else self.end
            places = [("response", end, "response", "output", at) for at in range(len(repeated))]
        order = tuple([each for each in self.found if each.kind not in _ASIDE])
        aside: dict[str, tuple[Irregularity, ...]] = {}
        for each in self.found:
            if each.kind in _ASIDE:
                aside[_ASIDE[each.kind]] = (*aside.get(_ASIDE[each.kind], ()), each)
        continuing, fragments = frozenset(self.continuing), tuple([each for item in items for each in item.fragments()])
        return AssembledResponse(
            events, reply, self.error, places, repeated, self.end, continuing, order, aside, fragments
        )


def _order(key: Any) -> tuple[bool, Any]:
    """Return the place of an item among others: by its index; those without one keep their order behind them."""
    return (False, key) if type(key) is int else (True, 0)
