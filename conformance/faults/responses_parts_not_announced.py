"""The parts of a message are neither added nor done."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/Wei-Shaw/sub2api/pull/4468"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-in-order",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the events of content parts, and number the others again."""
    kept = [each for each in sent.events or () if not each.name.startswith("response.content_part.")]
    for number, event in enumerate(kept):
        event.value["sequence_number"] = number
    return sent._replace(events=tuple(kept))
