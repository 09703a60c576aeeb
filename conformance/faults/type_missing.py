"""Calls have no type."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls

SOURCE = "https://github.com/mistralai/mistral-vibe/pull/552"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("tool-calls/type-present", "shape/tool-call", "shape/choice", "shape/chunk")


def change(sent: Outgoing) -> Outgoing:
    """Remove the types."""
    for call in calls(sent):
        for fragment in call:
            fragment.pop("type", None)
    return sent
