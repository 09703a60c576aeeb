"""More tokens are counted as cached than the prompt has."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import usages

SOURCE = "https://github.com/SamSaffron/term-llm/pull/424"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("usage/cached-within-prompt",)


def change(sent: Outgoing) -> Outgoing:
    """Count more cached tokens."""
    for usage in usages(sent):
        usage["prompt_tokens_details"] = {"cached_tokens": usage["prompt_tokens"] + 1}
    return sent
