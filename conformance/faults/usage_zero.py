"""All counts of tokens are 0."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import usages

SOURCE = "https://github.com/tenstorrent/tt-inference-server/issues/3552"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("usage/not-zero-beside-text",)


def change(sent: Outgoing) -> Outgoing:
    """Set every count to 0."""
    for usage in usages(sent):
        for name in ("prompt_tokens", "completion_tokens", "total_tokens"):
            usage[name] = 0
    return sent
