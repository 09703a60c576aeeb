"""More tokens are counted as reasoning than the whole completion has."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import usages

SOURCE = "https://github.com/infiniflow/ragflow/pull/14380"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("usage/reasoning-within-completion",)


def change(sent: Outgoing) -> Outgoing:
    """Count the prompt as reasoning."""
    for usage in usages(sent):
        counted = usage["completion_tokens"] + usage["prompt_tokens"]
        usage["completion_tokens_details"] = {"reasoning_tokens": counted}
    return sent
