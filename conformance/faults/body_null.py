"""A reply is null, with status 200."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/open-webui/open-webui/issues/28938"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (PLAIN,)
BREAKS = ("ended", "stopped", "http/body-is-object-or-stream")


def change(sent: Outgoing) -> Outgoing:
    """Send null."""
    return sent._replace(content=b"null")
