"""Thinking is still open when the next block of a streamed message starts."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/ihsan-ramadhan/bansos-router/pull/3"
WIRES = ("messages",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-in-order",)


def change(sent: Outgoing) -> Outgoing:
    """Move the stops of thinking before the end of the message."""
    starts = sent.objects(lambda value: value.get("type") == "content_block_start")
    thinking = [each["index"] for each in starts if each["content_block"]["type"] == "thinking"]
    events = list(sent.events or ())
    stops = [each for each in events if each.name == "content_block_stop" and each.value["index"] in thinking]
    kept = [each for each in events if each not in stops]
    end = next(number for number, each in enumerate(kept) if each.name == "message_delta")
    return sent._replace(events=(*kept[:end], *stops, *kept[end:]))
