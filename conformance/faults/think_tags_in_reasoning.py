"""The tags of the model's markup stand in the reasoning."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import reasoning_field, set_text, text

SOURCE = "https://github.com/ggml-org/llama.cpp/issues/12275"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("reasoning/no-markup",)


def change(sent: Outgoing) -> Outgoing:
    """Put the tags around the reasoning."""
    field = reasoning_field(sent)
    if field:
        set_text(sent, f"<think>\n{text(sent, field)}\n</think>", field)
    return sent
