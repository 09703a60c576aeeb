"""A chunk follows `[DONE]`."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/decolua/9router/issues/3492"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/nothing-after-done",)


def change(sent: Outgoing) -> Outgoing:
    """Append the first chunk again."""
    first = next(each for each in sent.events or () if not isinstance(each.value, str))
    return sent._replace(events=(*(sent.events or ()), first))
