"""Lines of a stream end with CR and LF, which the standard allows."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/miruamel/xuan/issues/194"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (STREAM,)
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Replace the line ends."""
    return sent._replace(content=sent.raw().replace(b"\n", b"\r\n"))
