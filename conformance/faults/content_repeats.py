"""Each delta of a stream repeats the whole content so far."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import messages

SOURCE = "https://github.com/QwenLM/qwen-code/pull/3896"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/deltas-not-cumulative",)


def change(sent: Outgoing) -> Outgoing:
    """Send the content from its beginning in each delta."""
    whole = ""
    for message in messages(sent):
        if message.get("content"):
            whole += message["content"]
            message["content"] = whole
    return sent
