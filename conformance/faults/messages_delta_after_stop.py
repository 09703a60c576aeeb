"""A fragment of a call's input follows after its block was stopped."""

from itertools import pairwise

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/headroomlabs-ai/headroom/pull/2890"
WIRES = ("messages",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-in-order",)
RELATED = ("tool-calls/arguments-are-an-object",)


def change(sent: Outgoing) -> Outgoing:
    """Exchange the last fragment of each call with the stop behind it."""
    events = list(sent.events or ())
    for number, (event, following) in enumerate(pairwise(events)):
        is_fragment = isinstance(event.value, dict) and "partial_json" in event.value.get("delta", {})
        if is_fragment and following.name == "content_block_stop":
            events[number : number + 2] = following, event
    return sent._replace(events=tuple(events))
