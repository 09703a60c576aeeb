"""The events of a stream have no names."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/initializ/forge/issues/434"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("native/events-named",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the names, which the data repeat."""
    return sent._replace(events=tuple([each._replace(name="") for each in sent.events or ()]))
