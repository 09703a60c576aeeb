"""The type of a call is null."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls

SOURCE = "https://github.com/vercel/ai/issues/6041"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("tool-calls/type-present", "shape/tool-call", "shape/choice", "shape/chunk")


def change(sent: Outgoing) -> Outgoing:
    """Replace the types."""
    for call in calls(sent):
        for fragment in call:
            if "type" in fragment:
                fragment["type"] = None
    return sent
