"""A stream has three events: the response is created, its text is done, and the response is completed."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/Sophomoresty/gemini-web2api/pull/57"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-in-order",)
RELATED = ("responses/deltas-add-up",)

_KEPT = ("response.created", "response.output_text.done", "response.completed")


def change(sent: Outgoing) -> Outgoing:
    """Remove all others from the stream of a text."""
    kept = [each for each in sent.events or () if each.name in _KEPT]
    if sent.calls():
        return sent
    for number, event in enumerate(kept):
        event.value["sequence_number"] = number
    return sent._replace(events=tuple(kept))
