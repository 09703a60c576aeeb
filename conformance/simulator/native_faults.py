"""Faulty streams of other wires: cut, or failing inside.

A scenario names them under `raw`, as those of chat completions. The other faults that it may name are about the chunks
of chat completions, and no other wire has them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from conformance.wire.native import NativeEvent
from conformance.wires import Wire
from conformance.wires.drafts import as_object

_MESSAGE: Final = "The upstream is gone."
_FRAGMENTS: Final = ("response.function_call_arguments.delta", "input_json_delta")
"""The types of events, or of the deltas in them, that hold a fragment of arguments."""


def faulty(names: Sequence[str], events: Sequence[NativeEvent], wire: Wire) -> tuple[NativeEvent, ...]:
    """Return the events of a stream that has the named faults."""
    found = tuple(events)
    for name in names:
        found = FAULTS[name](found, wire)
    return found


def _cut(events: Sequence[NativeEvent], _wire: Wire) -> tuple[NativeEvent, ...]:
    """End before the last fragment of a call or after two thirds of the events."""
    fragments = [number for number, event in enumerate(events) if _is_fragment(as_object(event.value))]
    return tuple(events[: fragments[-1] if len(fragments) > 1 else max(1, len(events) * 2 // 3)])


def _error_inside(events: Sequence[NativeEvent], wire: Wire) -> tuple[NativeEvent, ...]:
    """Fail after half of the events, when status 200 has already been sent."""
    before = events[: max(1, len(events) // 2)]
    failure = wire.failure(_MESSAGE)
    if "sequence_number" in as_object(before[-1].value):
        failure = NativeEvent(failure.name, {**failure.value, "sequence_number": len(before)})
    return (*before, failure)


def _is_fragment(value: Mapping[str, Any]) -> bool:
    return value.get("type") in _FRAGMENTS or as_object(value.get("delta")).get("type") in _FRAGMENTS


FAULTS: Final[Mapping[str, Callable[[Sequence[NativeEvent], Wire], tuple[NativeEvent, ...]]]] = {
    "cut": _cut,
    "error-inside": _error_inside,
}
