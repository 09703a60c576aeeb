"""How a message of wolo grows: the events of a stream, and the states of a call.

The document names the events and their effects; their fields have the names of the parts' fields here.
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
"""The states that may follow each state; the last two are final."""


def apply(message: Mapping[str, Any], event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message after an event, as a new value.

    `text-delta` has `text`, which is added to the last part or starts a new one; `tool-call` has `id`, `tool` and
    `input`; `finish` has `finish_reason`. Raises Unusable for any other event, and after `finish`.
    """
    if message.get("finished"):
        text = f"the message {message['id']} is finished; no {event['type']} may follow"
        raise Unusable(text)
    parts = list(message["parts"])
    if event["type"] == "text-delta":
        return {**message, "parts": _with_text(message["id"], parts, event["text"])}
    if event["type"] == "tool-call":
        call = {key: event[key] for key in ("id", "tool", "input")}
        return {**message, "parts": [*parts, {**call, "type": "tool", "status": "pending"}]}
    if event["type"] == "finish":
        return {**message, "parts": parts, "finished": True, "finish_reason": event["finish_reason"]}
    text = f"unknown event {event['type']}: expected text-delta, tool-call or finish"
    raise Unusable(text)


def advance(message: Mapping[str, Any], call: str, status: str, output: str = "", at: float = 0.0) -> dict[str, Any]:
    """Return the message with one of its calls in its next state; `at` is the time in seconds since 1970.

    If calls share the id, the first that can get there does. Raises Unusable if none can.
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
