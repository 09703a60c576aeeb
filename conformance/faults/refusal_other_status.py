"""Refusals have another status than the provider documents."""

from conformance.faults import BOTH, REFUSED, Outgoing

SOURCE = "https://github.com/lobehub/lobehub/issues/12845"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("probes/*",)
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Replace the status."""
    return sent._replace(status=422 if sent.status != 422 else 400)
