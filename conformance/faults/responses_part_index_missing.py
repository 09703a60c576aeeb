"""The deltas of text do not say of which part."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/teabranch/open-responses-server/issues/44"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/indexes-contiguous",)
RELATED = ("native/stream-in-order",)


def change(sent: Outgoing) -> Outgoing:
    """Remove content_index."""
    for event in sent.objects(lambda value: value.get("type") == "response.output_text.delta"):
        del event["content_index"]
    return sent
