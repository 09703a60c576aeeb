"""The in-memory messages of an agent loop: the shape of the wire with extensions for routing, display and debugging.

`reasoning` is the `reasoning_content` of the canonical transcript; the loop's other extensions are never sent. Source:
"Messages & the Wire Format", the guide of an agent SDK.
"""

from typing import Any, Final

from conformance.convert.dialects import CANONICAL, checked
from conformance.documents.pointer import Place
from conformance.wire.content import AS_STRING
from conformance.wire.losses import Converted, Losses
from conformance.wire.reasoning import TEXT_KEYS

TITLE: Final = "The in-memory messages of an agent loop: the wire plus extensions."

LOCAL: Final = {
    "assistant": ("finishReason", "isError", "timestamp"),
    "tool": ("toolName", "isError", "timestamp"),
    "user": ("timestamp",),
    "system": ("timestamp",),
}
"""The extensions of the loop that are never sent, by role."""

RENAMED: Final = {"reasoning": "reasoning_content"}


@checked("agent-loop", CANONICAL)
def to_canonical(native: list[dict[str, Any]]) -> Converted:
    """Return the canonical transcript of a loop's messages; its extensions are lost, except for reasoning."""
    losses = Losses()
    messages = []
    for position, message in enumerate(native):
        local = LOCAL[message["role"]]
        for key in message:
            if key in local:
                losses.add((position, key), "an extension of the loop, which is never sent")
        messages.append({RENAMED.get(key, key): value for key, value in message.items() if key not in local})
    return losses.converted(messages)


@checked(CANONICAL, "agent-loop")
def to_native(canonical: list[dict[str, Any]]) -> Converted:
    """Return a loop's messages for a canonical transcript; only users have content in parts."""
    losses = Losses()
    return losses.converted([_from_wire(message, (position,), losses) for position, message in enumerate(canonical)])


def _from_wire(message: dict[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    role = message["role"]
    if role == "developer":
        losses.add((*place, "role"), "the loop has no developer role; comes back as system")
    native: dict[str, Any] = {"role": "system" if role == "developer" else role}
    for key, value in message.items():
        if key in ("refusal", "name", "audio") and value is not None:
            losses.add((*place, key), "a message of the loop has no such field")
        elif key in ("tool_call_id", "tool_calls", "reasoning_details") or (key == "content" and role == "user"):
            native[key] = value
    if role != "user":
        native["content"] = _text(message.get("content"), (*place, "content"), losses)
    return native | _reasoning(message, place, losses)


def _reasoning(message: dict[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    """Return a message's reasoning from either field; of two, the canonical one counts."""
    names = [name for name in TEXT_KEYS if message.get(name) is not None]
    if "reasoning" in names:
        is_same = message["reasoning"] == message[names[0]]
        losses.add(
            (*place, "reasoning"), "comes back as reasoning_content" if is_same else "a message has one reasoning"
        )
    return {"reasoning": message[names[0]]} if names else {}


def _text(content: Any, place: Place, losses: Losses) -> str:
    """Return content as a string, as the loop holds it."""
    if isinstance(content, str):
        return content
    texts = []
    for number, part in enumerate(content or ()):
        if part["type"] == "text":
            texts.append(part["text"])
        else:
            losses.add((*place, number), "content has to be text in the loop")
    if texts:
        losses.add(place, AS_STRING)
    return "".join(texts)
