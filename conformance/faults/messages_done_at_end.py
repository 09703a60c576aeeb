"""A streamed message ends with the `[DONE]` of chat completions."""

from conformance.faults import STREAM, Outgoing
from conformance.wire.native import NativeEvent

SOURCE = "https://github.com/anthropics/anthropic-sdk-csharp/pull/202"
WIRES = ("messages",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-in-order",)
RELATED = ("native/events-named", "native/event-shape")


def change(sent: Outgoing) -> Outgoing:
    """Append it."""
    return sent._replace(events=(*(sent.events or ()), NativeEvent("", "data: [DONE]\n\n")))
