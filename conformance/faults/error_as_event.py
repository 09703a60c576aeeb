"""A refusal begins with `data:`, so that it is not JSON."""

from conformance.faults import PLAIN, REFUSED, Outgoing

SOURCE = "https://github.com/decolua/9router/issues/1210"
WIRES = ("chat", "messages", "responses", "gemini")
# On some wires, the suites provoke refusals by plain requests alone.
VARIANTS = (PLAIN,)
BREAKS = ("probes/*", "error/body-shape", "error/body-is-object")
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Put the field of an event before the body."""
    return sent._replace(content=b"data: " + sent.raw())
