"""Replies name another kind of object."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import chunks

SOURCE = "https://github.com/tensorchord/modelz-llm/issues/83"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("shape/response", "shape/chunk")


def change(sent: Outgoing) -> Outgoing:
    """Replace the kind."""
    for chunk in chunks(sent):
        chunk["object"] = "chat"
    return sent
