"""A stream begins with an event that holds nothing but an empty object."""

from conformance.faults import STREAM, Outgoing
from conformance.wire.native import NativeEvent

SOURCE = "https://github.com/docker/docker-agent/pull/4203"
WIRES = ("gemini",)
VARIANTS = (STREAM,)
BREAKS = ("native/event-shape",)


def change(sent: Outgoing) -> Outgoing:
    """Insert the event."""
    return sent._replace(events=(NativeEvent("keepalive", {}), *(sent.events or ())))
