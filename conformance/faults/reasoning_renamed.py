"""The field `reasoning_content` is called `reasoning`."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/vllm-project/vllm/issues/27755"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("reasoning/in-claimed-field",)


def change(sent: Outgoing) -> Outgoing:
    """Rename the field of every message and delta."""
    for message in sent.objects(lambda value: "reasoning_content" in value):
        message["reasoning"] = message.pop("reasoning_content")
    return sent
