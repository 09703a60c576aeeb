"""A call stands as markup in the text, with the stop reason of calls."""

import json

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/rescrv/claudius/pull/106"
WIRES = ("messages",)
VARIANTS = (PLAIN,)
BREAKS = (
    "response/no-markup-in-content",
    "response/finish-reason-matches-tool-calls",
)


def change(sent: Outgoing) -> Outgoing:
    """Write each call as text."""
    for call in sent.calls():
        text = json.dumps({"name": call["name"], "arguments": call["input"]})
        call.clear()
        call |= {"type": "text", "text": f"<tool_call>\n{text}\n</tool_call>"}
    return sent
