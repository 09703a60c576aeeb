"""A request for a stream gets a plain reply."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import chunks, text

SOURCE = "https://github.com/mistralai/mistral-vibe/pull/619"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("http/streams-when-asked", "ended")


def change(sent: Outgoing) -> Outgoing:
    """Send one reply with the text of the stream."""
    frame = {key: chunks(sent)[0].get(key) for key in ("id", "created", "model")}
    message = {"role": "assistant", "content": text(sent) or "One moment."}
    body = {
        **frame,
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
    return sent._replace(events=None, body=body).with_headers(content_type="application/json")
