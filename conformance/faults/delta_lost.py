"""A delta in the middle of a streamed answer is lost."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import is_event

SOURCE = "https://github.com/raullenchai/Rapid-MLX/issues/209"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("probes/results-paired",)


def change(sent: Outgoing) -> Outgoing:
    """Remove every third delta with content."""
    kept = list(sent.events or ())
    places = [place for place, each in enumerate(kept) if is_event(each, "content")]
    for place in reversed(places[1::3]):
        del kept[place]
    return sent._replace(events=tuple(kept))
