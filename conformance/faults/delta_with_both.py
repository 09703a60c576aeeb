"""One delta has the end of the reasoning and the beginning of the content."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import is_event, reasoning_field

SOURCE = "https://github.com/esengine/DeepSeek-Reasonix/pull/859"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Join the last delta of the reasoning with the first of the content."""
    field = reasoning_field(sent)
    events = list(sent.events or ())
    last = [place for place, each in enumerate(events) if field and is_event(each, field)]
    first = [place for place, each in enumerate(events) if is_event(each, "content")]
    if last and first and last[-1] < first[0]:
        deltas = [events[place].value["choices"][0]["delta"] for place in (last[-1], first[0])]
        deltas[0]["content"] = deltas[1]["content"]
        del events[first[0]]
    return sent._replace(events=tuple(events))
