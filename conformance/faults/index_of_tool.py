"""The index of a streamed call is the position of its tool among all tools, so that parallel calls share it."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import calls

SOURCE = "https://github.com/sgl-project/sglang/issues/6310"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/index-distinct",)


def change(sent: Outgoing) -> Outgoing:
    """Give each fragment the position of the declared tool."""
    declared = [each["function"]["name"] for each in sent.request.get("tools") or ()]
    for call in calls(sent):
        for fragment in call:
            fragment["index"] = declared.index(call[0]["function"]["name"])
    return sent
