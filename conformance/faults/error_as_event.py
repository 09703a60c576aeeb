"""A refusal begins with `data:`, so that it is not JSON."""

from conformance.faults import BOTH, REFUSED, Outgoing

SOURCE = "https://github.com/decolua/9router/issues/1210"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("error/body-shape", "http/*", "probes/*")
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Put the field of an event before the body."""
    return sent._replace(content=b"data: " + sent.raw())
