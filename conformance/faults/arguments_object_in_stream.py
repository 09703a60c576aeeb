"""A streamed call has its arguments as an object in one delta instead of as text."""

import json

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import arguments, calls, set_arguments

SOURCE = "https://github.com/can1357/oh-my-pi/pull/1779"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("shape/chunk",)


def change(sent: Outgoing) -> Outgoing:
    """Decode the arguments into the first fragment, and leave no others."""
    for call in calls(sent):
        set_arguments(call, json.loads(arguments(call)))
        for fragment in call[1:]:
            fragment["function"].pop("arguments")
    return sent
