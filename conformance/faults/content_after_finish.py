"""A stream goes on with content after its finish reason."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import choices, is_event

SOURCE = "https://github.com/charmbracelet/fantasy/issues/289"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/nothing-after-finish",)


def change(sent: Outgoing) -> Outgoing:
    """Move the finish reason to the first chunk with content."""
    events = sent.events or ()
    found = [each for each in choices(sent) if each.get("finish_reason")]
    places = [place for place, each in enumerate(events) if is_event(each, "content")]
    if found and len(places) > 1:
        events[places[0]].value["choices"][0]["finish_reason"] = found[0]["finish_reason"]
        found[0]["finish_reason"] = None
    return sent
