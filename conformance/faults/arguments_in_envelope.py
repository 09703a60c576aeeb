"""The arguments are an object with name and arguments, as the model wrote the call."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import arguments, calls, set_arguments

SOURCE = "https://github.com/vllm-project/vllm/issues/28297"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("tool-calls/arguments-fit-schema",)


def change(sent: Outgoing) -> Outgoing:
    """Wrap the arguments."""
    for call in calls(sent):
        name = call[0]["function"]["name"]
        set_arguments(call, f'{{"name": "{name}", "arguments": {arguments(call)}}}')
    return sent
