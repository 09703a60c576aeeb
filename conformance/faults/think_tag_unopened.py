"""The content holds the reasoning, an end tag that nothing opens, and the answer."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import messages, reasoning_field, set_text, text

SOURCE = "https://github.com/vllm-project/vllm/issues/12999"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("reasoning/no-think-tags-in-content", "reasoning/in-claimed-field", "core/reasoning-field")


def change(sent: Outgoing) -> Outgoing:
    """Move the reasoning before the content, with the end tag."""
    field = reasoning_field(sent)
    if field:
        thought = text(sent, field)
        for message in messages(sent):
            message.pop(field, None)
        if text(sent):
            set_text(sent, f"{thought}\n</think>\n\n{text(sent)}")
        else:
            messages(sent)[-1]["content"] = f"{thought}\n</think>\n\n"
    return sent
