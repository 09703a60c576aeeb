"""The parallel calls of a streamed message are one block, with the input of both."""

from conformance.faults import STREAM, Outgoing
from conformance.wire.native import NativeEvent

SOURCE = "https://github.com/BerriAI/litellm/pull/15315"
WIRES = ("messages",)
VARIANTS = (STREAM,)
BREAKS = ("tool-calls/arguments-are-an-object",)


def change(sent: Outgoing) -> Outgoing:
    """Let the fragments of the later calls follow those of the first one."""
    starts = sent.objects(lambda value: value.get("type") == "content_block_start")
    indexes = [each["index"] for each in starts if each["content_block"]["type"] == "tool_use"]
    if not indexes:
        return sent
    last = NativeEvent("content_block_stop", {"type": "content_block_stop", "index": indexes[-1]})
    kept: list[NativeEvent] = []
    for event in sent.events or ():
        is_later = event.value.get("index") in indexes[1:]
        if event.value.get("index") in indexes and event.name == "content_block_stop":
            kept += [event._replace(value={**event.value, "index": indexes[0]})] if event == last else []
        elif not is_later:
            kept.append(event)
        elif event.name == "content_block_delta":
            kept.append(event._replace(value={**event.value, "index": indexes[0]}))
    return sent._replace(events=tuple(kept))
