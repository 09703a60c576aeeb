"""Ingress: a provider's reply becomes a message of the canonical transcript.

Reasoning comes under one name, whatever the provider calls it; `reasoning_details`, ids and arguments stay verbatim.
"""

from collections.abc import Mapping
from typing import Any

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""The flat fields that carry reasoning in replies, the canonical one first."""


def read(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the canonical assistant message that a reply's message stands for.

    `content` is a string (null becomes ""); thinking parts of a content list become reasoning; a tool call keeps its
    id, name, arguments and `extra_content`, and loses what only a reply carries, such as `index`.
    """
    content, thinking = _split(message.get("content"))
    flat = next((message[name] for name in REASONING_FIELDS if isinstance(message.get(name), str)), None)
    result: dict[str, Any] = {"role": "assistant", "content": content}
    reasoning = flat if flat is not None else thinking
    if reasoning is not None:
        result["reasoning_content"] = reasoning
    if isinstance(message.get("reasoning_details"), list):
        result["reasoning_details"] = message["reasoning_details"]
    if message.get("tool_calls"):
        result["tool_calls"] = [_call(call) for call in message["tool_calls"]]
    return result


def _split(content: Any) -> tuple[str, str | None]:
    """Return the words of a content, and the thinking that stood in it as parts."""
    if not isinstance(content, list):
        return (content if isinstance(content, str) else ""), None
    words = [part["text"] for part in content if isinstance(part.get("text"), str)]
    thoughts = [
        step["text"]
        for part in content
        for step in (part.get("thinking") if isinstance(part.get("thinking"), list) else ())
        if isinstance(step.get("text"), str)
    ]
    return "".join(words), "".join(thoughts) if thoughts else None


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call.get("function") or {}
    kept = {"extra_content": call["extra_content"]} if "extra_content" in call else {}
    return {
        "id": call.get("id"),
        "type": "function",
        "function": {"name": function.get("name"), "arguments": function.get("arguments")},
        **kept,
    }
