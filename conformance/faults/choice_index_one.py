"""The only choice of a reply has another index than 0."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import choices

SOURCE = "https://github.com/microsoft/foundry-local/issues/263"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("response/choice-index-zero",)


def change(sent: Outgoing) -> Outgoing:
    """Add 1 to the index."""
    for choice in choices(sent):
        if "index" in choice:
            choice["index"] += 1
    return sent
