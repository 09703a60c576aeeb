"""A stream has nothing but its end."""

from conformance.faults import STREAM, Outgoing
from conformance.wire.native import NativeEvent

SOURCE = "https://github.com/open-webui/open-webui/issues/28938"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/complete", "stream/not-empty", "ended")


def change(sent: Outgoing) -> Outgoing:
    """Send `[DONE]` alone."""
    return sent._replace(events=(NativeEvent("", "data: [DONE]\n\n"),))
