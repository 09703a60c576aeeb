"""Reasoning stands at the start of the content without any mark, and its field is missing."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import messages, reasoning_field, set_text, text

SOURCE = "https://github.com/vllm-project/vllm/issues/24459"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("reasoning/in-claimed-field", "core/reasoning-field", "reasoning/not-in-content")


def change(sent: Outgoing) -> Outgoing:
    """Move the reasoning before the content."""
    field = reasoning_field(sent)
    if field:
        thought = text(sent, field)
        for message in messages(sent):
            message.pop(field, None)
        if text(sent):
            set_text(sent, f"{thought}\n\n{text(sent)}")
        else:
            messages(sent)[-1]["content"] = thought
    return sent
