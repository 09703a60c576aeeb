"""Replies have no counts of tokens, but null."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import chunks

SOURCE = "https://github.com/microsoft/foundry-local/issues/173"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("usage/present-when-asked", "usage/adds-up")


def change(sent: Outgoing) -> Outgoing:
    """Replace the counts."""
    for chunk in chunks(sent):
        if chunk.get("usage"):
            chunk["usage"] = None
    return sent
