"""A plain reply breaks off in the middle."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/anomalyco/opencode/issues/39968"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (PLAIN,)
BREAKS = ("ended", "stopped", "http/body-is-object-or-stream")


def change(sent: Outgoing) -> Outgoing:
    """Send the first half."""
    whole = sent.raw()
    return sent._replace(content=whole[: len(whole) // 2])
