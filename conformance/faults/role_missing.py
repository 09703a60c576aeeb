"""The message of a reply has no role."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import messages

SOURCE = "https://github.com/epam/ai-dial-adapter-vertexai/pull/174"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("shape/choice", "shape/message", "stream/role-first", "shape/chunk")


def change(sent: Outgoing) -> Outgoing:
    """Remove the role."""
    for message in messages(sent):
        message.pop("role", None)
    return sent
