"""Replies have no id."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import chunks

SOURCE = "https://github.com/decolua/9router/issues/2727"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("shape/response", "shape/chunk")


def change(sent: Outgoing) -> Outgoing:
    """Remove the id."""
    for chunk in chunks(sent):
        chunk.pop("id", None)
    return sent
