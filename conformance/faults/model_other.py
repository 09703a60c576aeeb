"""Another model replies than the one that was asked for."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import chunks

SOURCE = "https://github.com/QuantumNous/new-api/pull/7418"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("response/model-as-requested",)


def change(sent: Outgoing) -> Outgoing:
    """Name the other model."""
    for chunk in chunks(sent):
        if "model" in chunk:
            chunk["model"] = "gpt-3.5-turbo"
    return sent
