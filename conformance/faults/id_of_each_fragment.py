"""Each fragment of a streamed call has an id of its own."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import calls

SOURCE = "https://github.com/langchain-ai/langchainjs/pull/10662"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/id-once", "tool-calls/id-unique-in-reply", "stream/index-distinct")


def change(sent: Outgoing) -> Outgoing:
    """Change the last character of the id in each fragment."""
    for call in calls(sent):
        for number, fragment in enumerate(call):
            fragment["id"] = f"{call[0]['id'][:-1]}{number}"
    return sent
