"""Streams come without the reasoning that plain replies have."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import REASONING, messages

SOURCE = "https://github.com/vllm-project/vllm/issues/12999"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("reasoning/in-claimed-field", "core/reasoning-field")


def change(sent: Outgoing) -> Outgoing:
    """Remove the reasoning."""
    for message in messages(sent):
        for name in REASONING:
            message.pop(name, None)
    return sent
