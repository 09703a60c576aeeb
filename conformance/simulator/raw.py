"""Faulty streams that no profile claims and that still occur: cut, failing, finished twice, with mixed calls.

A scenario or one of its turns names them under `raw`; they are those of `conformance.faults`. Only the simulator plays
such a turn; clients have to cope.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from conformance.faults import Outgoing, load
from conformance.wire.native import CHAT, NativeEvent
from conformance.wire.sse import render


def event_bytes(names: Sequence[str], events: Iterable[Any]) -> tuple[bytes, ...]:
    """Return the bytes of each event of a stream of chat completions that has the named faults."""
    found = faulty(names, CHAT, [NativeEvent("", each) for each in events])
    return tuple([render([each.value]).encode() for each in found])


def faulty(names: Sequence[str], wire: str, events: Iterable[NativeEvent]) -> tuple[NativeEvent, ...]:
    """Return the events of a stream that has the named faults; another wire may not have them."""
    sent = Outgoing(wire, events=tuple(events))
    for name in names:
        sent = load(name).apply(sent)
    return sent.events or ()
