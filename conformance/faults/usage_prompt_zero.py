"""The prompt is always counted as 0 tokens."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import usages

SOURCE = "https://github.com/sawfwair/mere-run/pull/134"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("usage/not-zero-beside-text",)


def change(sent: Outgoing) -> Outgoing:
    """Set the count to 0."""
    for usage in usages(sent):
        usage["total_tokens"] -= usage["prompt_tokens"]
        usage["prompt_tokens"] = 0
    return sent
