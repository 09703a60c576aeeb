"""The end of the model's own markup stands behind the arguments of calls."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import arguments, calls, set_arguments

SOURCE = "https://github.com/vllm-project/vllm/issues/22975"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("tool-calls/arguments-are-an-object",)


def change(sent: Outgoing) -> Outgoing:
    """Append the mark."""
    for call in calls(sent):
        set_arguments(call, arguments(call) + "\n</tool_call>")
    return sent
