"""Ingress: a provider's reply becomes a message of the canonical transcript.

Reasoning comes under one name, whatever the provider calls it; `reasoning_details`, ids and arguments stay verbatim.
"""

from collections.abc import Mapping
from typing import Any

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""The flat fields that carry reasoning in replies, the canonical one first."""

_TAGS = {"think-tags": "think", "reasoning-tags": "reasoning"}


def read(message: Mapping[str, Any], claims: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the canonical assistant message that a reply's message stands for.

    `content` is a string (null becomes ""); thinking parts of a content list become reasoning, and so does text
    between tags where the claims say that the provider shows it so. Signed blocks become `reasoning_details`. A tool
    call keeps its id, name, arguments and `extra_content`, and loses what only a reply carries, such as `index`.
    """
    content, thinking = _split(message.get("content"))
    if thinking is None:
        content, thinking = _untagged(content, claims or {})
    details = _details(message)
    flat = next((message[name] for name in REASONING_FIELDS if isinstance(message.get(name), str)), None)
    result: dict[str, Any] = {"role": "assistant", "content": content}
    reasoning = next((each for each in (flat, thinking, _in_clear(details)) if each is not None), None)
    if reasoning is not None:
        result["reasoning_content"] = reasoning
    if details is not None:
        result["reasoning_details"] = details
    if isinstance(message.get("extra_content"), dict):
        result["extra_content"] = message["extra_content"]
    if message.get("tool_calls"):
        result["tool_calls"] = [_call(call) for call in message["tool_calls"]]
    return result


def _split(content: Any) -> tuple[str, str | None]:
    """Return the words of a content, and the thinking that stood in it as parts."""
    if not isinstance(content, list):
        return (content if isinstance(content, str) else ""), None
    words = [part["text"] for part in content if part.get("type") != "reasoning" and isinstance(part.get("text"), str)]
    thoughts = [thought for part in content for thought in _thoughts(part)]
    return "".join(words), "".join(thoughts) if thoughts else None


def _thoughts(part: Mapping[str, Any]) -> list[str]:
    if part.get("type") == "reasoning" and isinstance(part.get("text"), str):
        return [part["text"]]
    steps = part.get("summary" if part.get("type") == "reasoning" else "thinking")
    return [step["text"] for step in (steps if isinstance(steps, list) else ()) if isinstance(step.get("text"), str)]


def _untagged(content: str, claims: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return content and reasoning of a text that begins with reasoning between tags, where that is claimed."""
    claimed = claims.get("reasoning.response-field")
    for field in claimed if isinstance(claimed, list) else [claimed]:
        tag = _TAGS.get(str(field), "")
        head, closed, words = content.partition(f"</{tag}>")
        if tag and closed:
            return words.lstrip("\n"), head.strip().removeprefix(f"<{tag}>").strip("\n")
    return content, None


def _details(message: Mapping[str, Any]) -> list[Any] | None:
    if isinstance(message.get("reasoning_details"), list):
        return list(message["reasoning_details"])
    blocks = message.get("thinking_blocks")
    return [_detail(block) for block in blocks] if isinstance(blocks, list) and blocks else None


def _detail(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reasoning detail that a signed block stands for."""
    if block.get("type") == "redacted_thinking":
        return {"type": "reasoning.encrypted", "data": block.get("data")}
    signature = {"signature": block["signature"]} if "signature" in block else {}
    return {"type": "reasoning.text", "text": block.get("thinking", "")} | signature


def _in_clear(details: list[Any] | None) -> str | None:
    said = [detail.get("text") or detail.get("summary") for detail in details or () if isinstance(detail, dict)]
    texts = [each for each in said if isinstance(each, str)]
    return "".join(texts) if texts else None


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call.get("function") or {}
    kept = {"extra_content": call["extra_content"]} if "extra_content" in call else {}
    return {
        "id": call.get("id"),
        "type": "function",
        "function": {"name": function.get("name"), "arguments": function.get("arguments")},
        **kept,
    }
