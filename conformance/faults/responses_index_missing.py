"""The items of a stream have no output_index."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/RESMP-DEV/ccr-rust/pull/25"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/indexes-contiguous",)
RELATED = ("native/stream-in-order",)


def change(sent: Outgoing) -> Outgoing:
    """Remove it from the events that add items and end them."""
    for event in sent.objects(lambda value: "item" in value and "output_index" in value):
        del event["output_index"]
    return sent
