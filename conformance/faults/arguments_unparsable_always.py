"""The arguments of every call lack their closing brace."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import arguments, calls, set_arguments

SOURCE = "https://github.com/vllm-project/vllm/pull/47963"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("tool-calls/arguments-are-an-object",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the last character."""
    for call in calls(sent):
        set_arguments(call, arguments(call).rstrip()[:-1])
    return sent
