"""No space follows `data:`, which the standard allows."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/dataelement/Clawith/pull/106"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (STREAM,)
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Remove the spaces."""
    return sent._replace(content=sent.raw().replace(b"data: ", b"data:").replace(b"event: ", b"event:"))
