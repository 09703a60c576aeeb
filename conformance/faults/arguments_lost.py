"""The arguments of all calls are an empty object, though the tool requires some.

The report is about chat completions; servers do the same on other wires.
"""

from conformance.faults import BOTH, Outgoing
from conformance.faults._answers import call_arguments
from conformance.faults._chat import calls, set_arguments
from conformance.wire.native import CHAT

SOURCE = "https://github.com/vllm-project/vllm/issues/31501"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("tool-calls/arguments-fit-schema", "probes/arguments-echoed")


def change(sent: Outgoing) -> Outgoing:
    """Empty the arguments."""
    if sent.wire == CHAT:
        for call in calls(sent):
            set_arguments(call, "{}")
        return sent
    for text in call_arguments(sent):
        text.write("{}")
    for call in sent.calls():
        for key in ("input", "args"):
            if key in call:
                call[key] = {}
        if call.get("arguments"):
            call["arguments"] = "{}"
    return sent
