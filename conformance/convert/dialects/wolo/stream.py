"""How a message of wolo grows: the events of a stream, and the states that a call goes through.

The document names the events and what they do; their fields are named here as the parts name theirs.
"""

from collections.abc import Mapping
from typing import Any, Final

from conformance.errors import Unusable

TRANSITIONS: Final[dict[str, tuple[str, ...]]] = {
    "pending": ("running",),
    "running": ("completed", "failed"),
    "completed": (),
    "failed": (),
}
"""Which states may follow which; the last two are final."""


def apply(message: Mapping[str, Any], event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message after an event; the message given stays as it was.

    `text-delta` has `text`, which goes to the last part or begins a new one; `tool-call` has `id`, `tool` and
    `input`; `finish` has `finish_reason`. Raises Unusable for any other event, and after the end.
    """
    if message.get("finished"):
        text = f"the message {message['id']} is finished: no {event['type']} can follow"
        raise Unusable(text)
    parts = list(message["parts"])
    if event["type"] == "text-delta":
        return {**message, "parts": _with_text(message["id"], parts, event["text"])}
    if event["type"] == "tool-call":
        call = {key: event[key] for key in ("id", "tool", "input")}
        return {**message, "parts": [*parts, {**call, "type": "tool", "status": "pending"}]}
    if event["type"] == "finish":
        return {**message, "parts": parts, "finished": True, "finish_reason": event["finish_reason"]}
    text = f"there is no event {event['type']}: expected text-delta, tool-call or finish"
    raise Unusable(text)


def advance(message: Mapping[str, Any], call: str, status: str, output: str = "", at: float = 0.0) -> dict[str, Any]:
    """Return the message with one of its calls in its next state, begun or ended at a time in seconds since 1970.

    Where calls share the id, it is the first that can get there. Raises Unusable where none can.
    """
    parts = list(message["parts"])
    mine = [number for number, part in enumerate(parts) if part["type"] == "tool" and part["id"] == call]
    able = [number for number in mine if status in TRANSITIONS[parts[number].get("status", "pending")]]
    if not able:
        states = " and ".join([parts[number].get("status", "pending") for number in mine]) or "not in the message"
        text = f"the call {call} cannot become {status}: it is {states}"
        raise Unusable(text)
    timed = {"start_time": at} if status == "running" else {"end_time": at, "output": output}
    parts[able[0]] = {**parts[able[0]], "status": status, **timed}
    return {**message, "parts": parts}


def _with_text(ident: str, parts: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    if parts and parts[-1]["type"] == "text":
        return [*parts[:-1], {**parts[-1], "text": parts[-1].get("text", "") + text}]
    number = sum(part["type"] == "text" for part in parts) + 1
    return [*parts, {"id": f"{ident}_text_{number}", "type": "text", "text": text}]
