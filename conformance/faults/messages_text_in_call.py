"""A delta of text stands in the block of a call."""

from conformance.faults import STREAM, Outgoing
from conformance.wire.native import NativeEvent

SOURCE = "https://github.com/sgl-project/sglang/pull/24294"
WIRES = ("messages",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-in-order",)


def change(sent: Outgoing) -> Outgoing:
    """Put a line break, as models write between calls, before the stop of each call."""
    calls, events = set(), []
    for event in sent.events or ():
        index = event.value.get("index")
        if event.value.get("content_block", {}).get("type") == "tool_use":
            calls.add(index)
        if event.name == "content_block_stop" and index in calls:
            delta = {"type": "text_delta", "text": "\n"}
            events.append(
                NativeEvent("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta})
            )
        events.append(event)
    return sent._replace(events=tuple(events))
