"""The content of a streamed answer begins as text and goes on as lists of parts."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import messages

SOURCE = "https://github.com/NousResearch/hermes-agent/pull/94905"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/content-keeps-its-type", "shape/chunk")


def change(sent: Outgoing) -> Outgoing:
    """Put the text of every delta but the first into a part."""
    texts = [each for each in messages(sent) if isinstance(each.get("content"), str) and each["content"]]
    for each in texts[1:]:
        each["content"] = [{"type": "text", "text": each["content"]}]
    return sent
