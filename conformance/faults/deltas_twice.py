"""Each delta with content is sent twice."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import is_event

SOURCE = "https://github.com/anomalyco/opencode/issues/39968"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/deltas-not-cumulative", "probes/results-paired", "stream/delta-not-repeated")


def change(sent: Outgoing) -> Outgoing:
    """Double the events with content."""
    events = [again for each in sent.events or () for again in [each] * (2 if is_event(each, "content") else 1)]
    return sent._replace(events=tuple(events))
