"""A call has no arguments at all where the tool has parameters."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls

SOURCE = "https://github.com/OpenRouterTeam/ai-sdk-provider/issues/287"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = (
    "shape/choice",
    "shape/tool-call",
    "shape/chunk",
    "probes/arguments-echoed",
    "tool-calls/arguments-are-an-object",
)


def change(sent: Outgoing) -> Outgoing:
    """Remove the arguments."""
    for call in calls(sent):
        for fragment in call:
            fragment["function"].pop("arguments", None)
    return sent
