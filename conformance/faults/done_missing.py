"""A stream ends without `[DONE]`."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/ikawrakow/ik_llama.cpp/issues/467"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/ends-with-done",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the last event."""
    events = sent.events or ()
    return sent._replace(events=tuple([each for each in events if "[DONE]" not in str(each.value)[:16]]))
