"""Calls have no id."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls

SOURCE = "https://github.com/Mesh-LLM/mesh-llm/pull/1318"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("tool-calls/id-not-empty", "shape/choice", "shape/chunk")


def change(sent: Outgoing) -> Outgoing:
    """Remove the ids."""
    for call in calls(sent):
        for fragment in call:
            fragment.pop("id", None)
    return sent
