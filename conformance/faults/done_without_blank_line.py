"""The last event of a stream, `[DONE]`, has no blank line after it."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/openai/openai-node/issues/2725"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/done-is-exact",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the line ends at the end of the bytes."""
    return sent._replace(content=sent.raw().rstrip(b"\n") + b"\n")
