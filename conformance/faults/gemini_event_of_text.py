"""The data of an event are a JSON text."""

from conformance.faults import STREAM, Outgoing
from conformance.wire.native import NativeEvent

SOURCE = "https://github.com/maximhq/bifrost/issues/5188"
WIRES = ("gemini",)
VARIANTS = (STREAM,)
BREAKS = ("native/event-shape",)


def change(sent: Outgoing) -> Outgoing:
    """Insert such an event before the last one."""
    events = sent.events or ()
    return sent._replace(events=(*events[:-1], NativeEvent("", 'data: "message"\n\n'), *events[-1:]))
