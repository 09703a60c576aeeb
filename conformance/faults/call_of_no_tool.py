"""A function is called by another name than the one that was declared."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls

SOURCE = "https://github.com/NVIDIA/TensorRT-LLM/issues/9256"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("tool-calls/name-declared",)


def change(sent: Outgoing) -> Outgoing:
    """Append the channel of the model's markup to each name."""
    for call in calls(sent):
        call[0]["function"]["name"] += "<|channel|>commentary"
    return sent
