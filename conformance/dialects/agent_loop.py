"""The in-memory messages of an agent loop: the wire's own shape with extensions for routing, display and debugging.

`reasoning` and `reasoning_details` are the canonical transcript's reasoning under another name; what else the loop
keeps beside a message never crosses. Source: "Messages & the Wire Format", the guide of an agent SDK.
"""

from typing import Any, Final

from conformance.dialects import Converted, Losses

TITLE: Final = "The in-memory messages of an agent loop: the wire plus extensions."

LOCAL: Final = {
    "assistant": ("finishReason", "isError", "timestamp"),
    "tool": ("toolName", "isError", "timestamp"),
    "user": ("timestamp",),
    "system": ("timestamp",),
}
"""What the loop keeps for itself, by role."""

RENAMED: Final = {"reasoning": "reasoning_content"}


def to_canonical(native: list[dict[str, Any]]) -> Converted:
    """Return the canonical transcript of a loop's messages; its own extensions are lost, reasoning is not."""
    losses = Losses()
    messages = []
    for position, message in enumerate(native):
        local = LOCAL[message["role"]]
        for key in message:
            if key in local:
                losses.add((position, key), "kept by the loop for itself; it never crosses the wire")
        messages.append({RENAMED.get(key, key): value for key, value in message.items() if key not in local})
    return losses.converted(messages)


def to_native(canonical: list[dict[str, Any]]) -> Converted:
    """Return a loop's messages for a canonical transcript; the loop's assistant content is always a string."""
    losses = Losses()
    back = {name: local for local, name in RENAMED.items()}
    messages = []
    for position, message in enumerate(canonical):
        native = {}
        for key, value in message.items():
            if message["role"] == "assistant" and key == "content":
                native[key] = _text(value, position, losses)
            elif message["role"] == "assistant" and key in ("refusal", "name", "audio", "reasoning"):
                losses.add((position, key), "an assistant message of the loop has no such field")
            elif message["role"] in ("system", "user") and key == "name":
                losses.add((position, key), "a message of the loop has no name")
            elif value is not None or key not in back:
                native[back.get(key, key)] = value
        if message["role"] == "assistant":
            native.setdefault("content", "")
        if message["role"] == "developer":
            losses.add((position, "role"), "the loop has no developer role; a system message stands for it")
            native["role"] = "system"
        messages.append(native)
    return losses.converted(messages)


def _text(content: Any, position: int, losses: Losses) -> str:
    """Return an assistant's content as the string that the loop holds."""
    if isinstance(content, str):
        return content
    words = []
    for number, part in enumerate(content or ()):
        if isinstance(part.get("text"), str):
            words.append(part["text"])
        else:
            losses.add((position, "content", number), "an assistant's content is text in the loop")
    return "".join(words)
