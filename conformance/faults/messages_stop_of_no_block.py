"""A streamed message stops a block that it never started."""

from conformance.faults import STREAM, Outgoing
from conformance.wire.native import NativeEvent

SOURCE = "https://github.com/QuantumNous/new-api/issues/5482"
WIRES = ("messages",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-in-order",)


def change(sent: Outgoing) -> Outgoing:
    """Stop the block with the next index before the message ends."""
    events = list(sent.events or ())
    end = next(number for number, each in enumerate(events) if each.name == "message_delta")
    index = sum(each.name == "content_block_start" for each in events)
    stop = NativeEvent("content_block_stop", {"type": "content_block_stop", "index": index})
    return sent._replace(events=(*events[:end], stop, *events[end:]))
