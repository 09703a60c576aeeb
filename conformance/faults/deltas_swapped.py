"""Two neighbouring deltas of a stream change places."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import is_event

SOURCE = "https://github.com/vllm-project/vllm/issues/44098"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("probes/results-paired",)


def change(sent: Outgoing) -> Outgoing:
    """Exchange every two events with content."""
    events = list(sent.events or ())
    places = [place for place, each in enumerate(events) if is_event(each, "content")]
    for first, second in zip(places[::2], places[1::2], strict=False):
        events[first], events[second] = events[second], events[first]
    return sent._replace(events=tuple(events))
