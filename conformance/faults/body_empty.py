"""Every reply has an empty body."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/open-webui/open-webui/issues/28938"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("ended", "stopped", "http/body-is-object-or-stream")


def change(sent: Outgoing) -> Outgoing:
    """Send nothing."""
    return sent._replace(content=b"")
