"""An event is written as Python does, with single quotes."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/xorbitsai/inference/issues/4237"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (STREAM,)
BREAKS = ("stream/events-are-json", "native/event-shape", "ended", "stream/*", "native/*")


def change(sent: Outgoing) -> Outgoing:
    """Write the second event with repr."""
    events = list(sent.events or ())
    if len(events) > 1 and not isinstance(events[1].value, str):
        events[1] = events[1]._replace(value=f"data: {events[1].value!r}\n\n")
    return sent._replace(events=tuple(events))
