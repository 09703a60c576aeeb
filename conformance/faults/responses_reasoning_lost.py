"""Reasoning is neither returned nor counted."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/vllm-project/vllm/issues/43395"
WIRES = ("responses",)
VARIANTS = (PLAIN,)
BREAKS = ("reasoning/in-claimed-field", "core/reasoning-field")


def change(sent: Outgoing) -> Outgoing:
    """Remove the items and the count."""
    sent.body["output"] = [each for each in sent.body["output"] if each["type"] != "reasoning"]
    sent.body["usage"]["output_tokens_details"]["reasoning_tokens"] = 0
    return sent
