"""Replies do not say which model they are from."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import chunks

SOURCE = "https://github.com/epam/ai-dial-adapter-vertexai/pull/174"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("shape/response", "shape/chunk")


def change(sent: Outgoing) -> Outgoing:
    """Remove the name."""
    for chunk in chunks(sent):
        chunk.pop("model", None)
    return sent
