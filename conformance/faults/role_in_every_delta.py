"""Every delta of a stream names the role again."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import messages

SOURCE = "https://github.com/MiniMax-AI/MiniMax-M2.5/issues/2"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Add the role."""
    for message in messages(sent):
        message["role"] = "assistant"
    return sent
