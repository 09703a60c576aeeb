"""Refusals have no body."""

from conformance.faults import BOTH, REFUSED, Outgoing

SOURCE = "https://github.com/musistudio/claude-code-router/issues/1558"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("error/body-shape", "error/*", "probes/*")
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Remove the body."""
    return sent._replace(content=b"")
