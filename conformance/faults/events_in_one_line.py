"""Events end with one line break in place of two, so that a client reads them as one."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/SillyTavern/SillyTavern/pull/1482"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (STREAM,)
BREAKS = ("stream/events-are-json", "stream/*", "native/*", "ended")


def change(sent: Outgoing) -> Outgoing:
    """Remove the empty lines."""
    return sent._replace(content=sent.raw().replace(b"\n\n", b"\n"))
