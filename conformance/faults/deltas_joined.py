"""A stream sends its content in one delta."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import is_event, text

SOURCE = "https://github.com/mistralai/mistral-vibe/pull/619"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Put all content into the first delta that has some."""
    said = text(sent)
    events = sent.events or ()
    places = [place for place, each in enumerate(events) if is_event(each, "content")]
    if places:
        events[places[0]].value["choices"][0]["delta"]["content"] = said
    return sent._replace(events=tuple([each for place, each in enumerate(events) if place not in places[1:]]))
