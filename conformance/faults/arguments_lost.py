"""The arguments of all calls are an empty object, though the tool requires some."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls, set_arguments

SOURCE = "https://github.com/vllm-project/vllm/issues/31501"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("tool-calls/arguments-fit-schema",)


def change(sent: Outgoing) -> Outgoing:
    """Empty the arguments."""
    for call in calls(sent):
        set_arguments(call, "{}")
    return sent
