"""The data of an event end behind the first brace."""

from conformance.faults import STREAM, Outgoing
from conformance.wire.native import NativeEvent

SOURCE = "https://github.com/MervinPraison/PraisonAI/pull/1029"
WIRES = ("gemini",)
VARIANTS = (STREAM,)
BREAKS = ("native/event-shape",)


def change(sent: Outgoing) -> Outgoing:
    """Insert such an event before the last one."""
    events = sent.events or ()
    return sent._replace(events=(*events[:-1], NativeEvent("", "data: {\n\n"), *events[-1:]))
