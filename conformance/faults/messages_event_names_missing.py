"""The events of a streamed message have no names."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/earendil-works/pi/issues/1983"
WIRES = ("messages",)
VARIANTS = (STREAM,)
BREAKS = ("native/events-named",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the names, which the data repeat."""
    return sent._replace(events=tuple([each._replace(name="") for each in sent.events or ()]))
