"""A stream ends before its first event."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/ai-dynamo/dynamo/pull/4723"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (STREAM,)
BREAKS = ("stream/complete", "native/stream-complete", "ended", "stopped")


def change(sent: Outgoing) -> Outgoing:
    """Send no event."""
    return sent._replace(events=())
