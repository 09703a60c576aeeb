"""An event has NaN, which JSON does not have."""

from conformance.faults import STREAM, Outgoing, event_bytes

SOURCE = "https://github.com/vllm-project/vllm/issues/25515"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (STREAM,)
BREAKS = ("stream/events-are-json", "native/event-shape", "ended", "stream/*", "native/*")


def change(sent: Outgoing) -> Outgoing:
    """Add the number to the second event."""
    events = list(sent.events or ())
    if len(events) > 1:
        shown = event_bytes(events[1]).decode().replace("{", '{"score":NaN,', 1)
        events[1] = events[1]._replace(name="", value=shown)
    return sent._replace(events=tuple(events))
