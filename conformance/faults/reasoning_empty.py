"""The field of the reasoning is there, and always empty."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import REASONING, messages

SOURCE = "https://github.com/MiniMax-AI/MiniMax-M2.5/issues/2"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("reasoning/in-claimed-field", "core/reasoning-field")


def change(sent: Outgoing) -> Outgoing:
    """Empty it."""
    for message in messages(sent):
        for name in REASONING:
            if name in message:
                message[name] = ""
    return sent
