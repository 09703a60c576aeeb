"""Answers come without the reasoning that replies with calls have."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import REASONING, calls, messages

SOURCE = "https://github.com/vllm-project/vllm/issues/12999"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("reasoning/in-claimed-field",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the reasoning of replies without calls."""
    for message in messages(sent) if not calls(sent) else ():
        for name in REASONING:
            message.pop(name, None)
    return sent
