"""The arguments of calls are written as Python does, with single quotes."""

import json

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import arguments, calls, set_arguments

SOURCE = "https://github.com/vllm-project/vllm/issues/22917"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("tool-calls/arguments-are-an-object",)


def change(sent: Outgoing) -> Outgoing:
    """Write the values with repr."""
    for call in calls(sent):
        set_arguments(call, repr(json.loads(arguments(call) or "{}")))
    return sent
