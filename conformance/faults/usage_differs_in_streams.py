"""Streams count only a part of the prompt."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import usages

SOURCE = "https://github.com/BerriAI/litellm/pull/41380"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("probes/twins-agree",)


def change(sent: Outgoing) -> Outgoing:
    """Count half the prompt."""
    for usage in usages(sent):
        usage["prompt_tokens"] //= 2
        usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
    return sent
