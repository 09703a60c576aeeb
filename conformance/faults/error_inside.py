"""A stream that began with status 200 ends with an error after half of its events."""

from conformance.faults import STREAM, Outgoing
from conformance.wire.native import CHAT, NativeEvent
from conformance.wires import by_name

SOURCE = "https://openrouter.ai/docs/api_reference/streaming"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (STREAM,)
BREAKS = ("error/no-error-in-stream", "ended: *an error came inside the stream*", "ended: *'error'*")

_MESSAGE = "The upstream is gone."


def change(sent: Outgoing) -> Outgoing:
    """Replace the second half."""
    events = [each for each in sent.events or () if not isinstance(each.value, str)]
    if sent.wire == CHAT:
        failure = NativeEvent("", {"error": {"message": _MESSAGE, "code": 502}})
        return sent._replace(events=(*events[: len(events) // 2], failure))
    before = events[: max(1, len(events) // 2)]
    failure = by_name(sent.wire).failure(_MESSAGE)
    if "sequence_number" in before[-1].value:
        failure = NativeEvent(failure.name, {**failure.value, "sequence_number": len(before)})
    return sent._replace(events=(*before, failure))
