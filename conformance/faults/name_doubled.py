"""The name of a streamed call is sent in two chunks, each time whole."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import calls

SOURCE = "https://github.com/AstrBotDevs/AstrBot/pull/7765"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/name-once", "tool-calls/name-declared")


def change(sent: Outgoing) -> Outgoing:
    """Repeat the name in the second fragment."""
    for call in calls(sent):
        if len(call) > 1:
            call[1]["function"]["name"] = call[0]["function"]["name"]
    return sent
