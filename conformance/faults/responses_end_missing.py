"""A stream ends without an event that ends the response."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/router-for-me/CLIProxyAPI/issues/4904"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-complete",)


def change(sent: Outgoing) -> Outgoing:
    """Remove response.completed."""
    return sent._replace(events=tuple([each for each in sent.events or () if each.name != "response.completed"]))
