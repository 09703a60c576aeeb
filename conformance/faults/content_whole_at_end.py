"""The last chunk of a stream repeats the whole content."""

import copy

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import is_event, text

SOURCE = "https://github.com/BerriAI/litellm/pull/39513"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/last-delta-not-whole", "stream/deltas-not-cumulative")


def change(sent: Outgoing) -> Outgoing:
    """Append a delta with all content."""
    said = text(sent)
    events = list(sent.events or ())
    places = [place for place, each in enumerate(events) if is_event(each, "content")]
    if places and said:
        again = copy.deepcopy(events[places[-1]])
        again.value["choices"][0]["delta"]["content"] = said
        events.insert(places[-1] + 1, again)
    return sent._replace(events=tuple(events))
