"""The total of tokens is not the sum of its parts."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import usages

SOURCE = "https://github.com/SamSaffron/term-llm/pull/424"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("usage/adds-up",)


def change(sent: Outgoing) -> Outgoing:
    """Leave out a part of the prompt."""
    for usage in usages(sent):
        usage["prompt_tokens"] -= usage["prompt_tokens"] // 2
    return sent
