"""The counts of tokens add up over all requests of a session."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import usages

SOURCE = "https://github.com/QuantumNous/new-api/issues/1109"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("usage/not-cumulative",)


def change(sent: Outgoing) -> Outgoing:
    """Add the counts of all earlier replies."""
    before = [usages(each)[-1] for each in sent.earlier if usages(each)]
    for usage in usages(sent):
        for name in ("prompt_tokens", "completion_tokens", "total_tokens"):
            usage[name] += sum([each[name] for each in before])
    return sent
