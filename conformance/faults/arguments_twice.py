"""The last chunk of a streamed call repeats its arguments whole."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import arguments, calls

SOURCE = "https://github.com/lidge-jun/opencodex/issues/361"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("tool-calls/arguments-are-an-object",)


def change(sent: Outgoing) -> Outgoing:
    """Append the whole to the last fragment."""
    for call in calls(sent):
        call[-1]["function"]["arguments"] = (call[-1]["function"].get("arguments") or "") + arguments(call)
    return sent
