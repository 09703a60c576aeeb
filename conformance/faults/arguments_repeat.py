"""Each fragment of a streamed call repeats all arguments so far."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import calls

SOURCE = "https://github.com/QwenLM/qwen-code/pull/3896"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("tool-calls/arguments-are-an-object",)


def change(sent: Outgoing) -> Outgoing:
    """Send the arguments from their beginning in each fragment."""
    for call in calls(sent):
        whole = ""
        for fragment in call:
            whole += fragment["function"].get("arguments") or ""
            fragment["function"]["arguments"] = whole
    return sent
