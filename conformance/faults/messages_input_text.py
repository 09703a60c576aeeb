"""The input of a call is JSON text instead of an object."""

import json

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/nielspeter/claude-code-proxy/pull/13"
WIRES = ("messages",)
VARIANTS = (PLAIN,)
BREAKS = ("tool-calls/arguments-are-an-object",)
RELATED = ("native/reply-shape",)


def change(sent: Outgoing) -> Outgoing:
    """Encode the input."""
    for call in sent.calls():
        call["input"] = json.dumps(call["input"])
    return sent
