"""A stream breaks off in the middle of an event."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/anomalyco/opencode/issues/39968"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (STREAM,)
BREAKS = ("stream/complete", "native/stream-complete", "ended")


def change(sent: Outgoing) -> Outgoing:
    """Remove the end of the bytes."""
    whole = sent.raw()
    return sent._replace(content=whole[: len(whole) * 2 // 3])
