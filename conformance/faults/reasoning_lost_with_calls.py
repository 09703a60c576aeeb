"""Replies with calls come without their reasoning; answers have it."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import REASONING, calls, messages

SOURCE = "https://github.com/vllm-project/vllm/issues/12999"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("reasoning/in-claimed-field", "core/reasoning-field")


def change(sent: Outgoing) -> Outgoing:
    """Remove the reasoning of replies with calls."""
    for message in messages(sent) if calls(sent) else ():
        for name in REASONING:
            message.pop(name, None)
    return sent
