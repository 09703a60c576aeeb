"""Comments stand between the events of a stream to keep the connection open."""

from conformance.faults import STREAM, Outgoing
from conformance.wire.native import NativeEvent

SOURCE = "https://openrouter.ai/docs/api_reference/streaming"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (STREAM,)
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Put a comment before each event."""
    comment = NativeEvent("", ": OPENROUTER PROCESSING\n\n")
    return sent._replace(events=tuple([each for event in sent.events or () for each in (comment, event)]))
