"""A function is called by another name than the one that was declared.

The report is about chat completions; servers do the same on other wires.
"""

from conformance.faults import BOTH, Outgoing
from conformance.faults._answers import call_names

SOURCE = "https://github.com/NVIDIA/TensorRT-LLM/issues/9256"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("tool-calls/no-markup",)


def change(sent: Outgoing) -> Outgoing:
    """Append the channel of the model's markup to each name."""
    for name in call_names(sent):
        name.holder["name"] += "<|channel|>commentary"
    return sent
