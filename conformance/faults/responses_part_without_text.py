"""The parts of a message that is done have no text."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/makecindy/cindy/issues/4509"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("native/reply-shape",)
RELATED = ("response/message-not-empty", "responses/deltas-add-up")


def change(sent: Outgoing) -> Outgoing:
    """Remove the text from the items that are done."""
    for event in sent.objects(lambda value: value.get("type") == "response.output_item.done"):
        for part in event["item"].get("content", ()):
            part.pop("text", None)
    return sent
