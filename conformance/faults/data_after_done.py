"""A chunk follows `[DONE]`."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/decolua/9router/issues/3492"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/nothing-after-done", "stream/done-last")


def change(sent: Outgoing) -> Outgoing:
    """Append the first chunk again."""
    return sent._replace(events=(*(sent.events or ()), (sent.events or ())[0]))
