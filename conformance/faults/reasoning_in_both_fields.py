"""Reasoning comes twice, as `reasoning` and as `reasoning_content`."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import messages

SOURCE = "https://github.com/vllm-project/vllm/pull/27752"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("reasoning/in-claimed-field", "reasoning/fields-agree")


def change(sent: Outgoing) -> Outgoing:
    """Send it under both names."""
    for message in messages(sent):
        said = message.get("reasoning_content") or message.get("reasoning")
        if said:
            message["reasoning_content"] = message["reasoning"] = said
    return sent
