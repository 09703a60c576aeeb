"""A stream ends with the `[DONE]` of chat completions."""

from conformance.faults import STREAM, Outgoing
from conformance.wire.native import NativeEvent

SOURCE = "https://github.com/liuw1535/antigravity2api-nodejs/issues/73"
WIRES = ("gemini",)
VARIANTS = (STREAM,)
BREAKS = ("native/event-shape",)


def change(sent: Outgoing) -> Outgoing:
    """Append it."""
    return sent._replace(events=(*(sent.events or ()), NativeEvent("", "data: [DONE]\n\n")))
