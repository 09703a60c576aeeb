"""The text of a streamed message has the index of the thinking before it.

The report is about a router that passes Anthropic's streams on.
"""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/Oaklight/llm-rosetta/issues/246"
WIRES = ("messages",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-in-order",)
RELATED = ("messages/reply-text-not-empty",)


def change(sent: Outgoing) -> Outgoing:
    """Write 0 to the deltas of text."""
    for event in sent.objects(lambda value: "text" in value.get("delta", ())):
        event["index"] = 0
    return sent
