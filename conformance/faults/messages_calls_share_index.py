"""All calls of a streamed message have the index of the first one."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/Shelpuk-AI-Technology-Consulting/kitty-bridge/pull/116"
WIRES = ("messages",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-in-order",)
RELATED = ("tool-calls/arguments-are-an-object",)


def change(sent: Outgoing) -> Outgoing:
    """Write the first call's index to all events of the later ones."""
    starts = sent.objects(lambda value: value.get("type") == "content_block_start")
    indexes = [each["index"] for each in starts if each["content_block"]["type"] == "tool_use"]
    for event in sent.objects(lambda value: value.get("index") in indexes):
        event["index"] = indexes[0]
    return sent
