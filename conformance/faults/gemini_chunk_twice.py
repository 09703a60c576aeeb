"""The last chunk of a stream comes twice."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/SillyTavern/SillyTavern/issues/2960"
WIRES = ("gemini",)
VARIANTS = (STREAM,)
BREAKS = ("gemini/nothing-after-finish",)


def change(sent: Outgoing) -> Outgoing:
    """Repeat it."""
    events = sent.events or ()
    return sent._replace(events=(*events, events[-1]))
