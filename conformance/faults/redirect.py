"""Every request is redirected to a page."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/musistudio/claude-code-router/issues/1630"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("stopped", "http/status-known")


def change(sent: Outgoing) -> Outgoing:
    """Redirect."""
    return sent._replace(status=302, content=b"").with_headers(location="/login")
