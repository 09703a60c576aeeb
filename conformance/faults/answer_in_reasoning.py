"""The answer stands in the field of the reasoning, and the content is empty."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import REASONING, calls, messages, reasoning_field, text

SOURCE = "https://github.com/vllm-project/vllm/issues/30139"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("ended-by-model: *only reasoning*", "response/answer-beside-reasoning")


def change(sent: Outgoing) -> Outgoing:
    """Move the content of answers into the reasoning."""
    if not calls(sent) and text(sent):
        said = text(sent)
        field = reasoning_field(sent) or REASONING[0]
        for message in messages(sent):
            if isinstance(message.get("content"), str):
                message["content"] = ""
        messages(sent)[-1][field] = f"{messages(sent)[-1].get(field) or ''}\n{said}"
    return sent
