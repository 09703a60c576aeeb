"""Egress: a canonical transcript becomes the messages of a request to one provider.

The rule is applied once, here: reasoning goes back with tool turns, under the name that the provider reads, and stays
behind on plain turns unless the provider demands it there. The transcript itself is left whole.
"""

from collections.abc import Mapping, Sequence
from typing import Any

REASONING_KEYS = frozenset({"reasoning_content", "reasoning_details", "extra_content"})
FIELDS = (
    "reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "extra_content", "thinking-parts",
    "reasoning-parts", "think-tags", "reasoning-tags",
)  # fmt: skip
"""Every place in an assistant message where some provider reads reasoning, by the names that claims use."""

_CANONICAL = frozenset({"reasoning_content", "reasoning", "reasoning_details", "thinking-parts"})
_TAGS = {"think-tags": "think", "reasoning-tags": "reasoning"}


def prepare(transcript: Sequence[Mapping[str, Any]], claims: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return fresh messages for a request; `claims` are those of the provider for the model that is asked."""
    users = [position for position, message in enumerate(transcript) if message["role"] == "user"]
    last = users[-1] if users else -1
    return [
        _message(message, claims, current=position > last) if message["role"] == "assistant" else dict(message)
        for position, message in enumerate(transcript)
    ]


def request_fields(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields under which a provider reads reasoning back; none where it refuses them or reads none.

    Where nobody knows what is read, what the provider itself sends is the best guess, as far as the canonical wire
    has it, and then the canonical field.
    """
    claimed = claims.get("reasoning.request-field", "reasoning_content")
    listed = claimed if isinstance(claimed, list) else [claimed]
    if claimed == "unknown":
        shown = claims.get("reasoning.response-field", "reasoning_content")
        shown = shown if isinstance(shown, list) else [shown]
        listed = [field for field in shown if field in _CANONICAL] or ["reasoning_content"]
    return tuple([field for field in listed if field in FIELDS and not _refuses(claims, f"reasoning.input.{field}")])


def with_reasoning(message: Mapping[str, Any], field: str, source: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message with the reasoning of a canonical one under a field; as it is where that has none to give."""
    details, text = source.get("reasoning_details"), source.get("reasoning_content")
    if field == "reasoning_details":
        return {**message, field: details} if details is not None else dict(message)
    if field == "thinking_blocks":
        blocks = [_block(detail) for detail in details or _in_clear(text)]
        return {**message, field: blocks} if blocks else dict(message)
    if field == "extra_content":
        return {**message, field: source[field]} if field in source else dict(message)
    if text is None:
        return dict(message)
    if field in ("reasoning_content", "reasoning"):
        return {**message, field: text}
    return {**message, "content": _inside(field, text, message.get("content"))}


def _message(message: Mapping[str, Any], claims: Mapping[str, Any], *, current: bool) -> dict[str, Any]:
    result = {key: value for key, value in message.items() if key not in REASONING_KEYS}
    if message.get("tool_calls"):
        result = _with_content(result, claims)
        wanted = current or not _refuses(claims, "reasoning.on-earlier-tool-turn")
    else:
        verdict = claims.get("reasoning.omitted-on-plain-turn")
        wanted = verdict == "damaged" or isinstance(verdict, Mapping)
    fields = request_fields(claims) if wanted else ()
    if "reasoning_details" in fields and "reasoning_details" in message:
        return with_reasoning(result, "reasoning_details", message)
    for field in fields:
        filled = with_reasoning(result, field, message)
        if filled != result:
            return filled
    return result


def _with_content(message: dict[str, Any], claims: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool turn without words in the first form of no content that the provider is not known to refuse."""
    if message.get("content") or not _refuses(claims, "content.empty-on-tool-turn"):
        return message
    if not _refuses(claims, "content.null-on-tool-turn"):
        return message | {"content": None}
    return {key: value for key, value in message.items() if key != "content"}


def _refuses(claims: Mapping[str, Any], name: str) -> bool:
    return isinstance(claims.get(name), Mapping)


def _inside(field: str, text: str, content: Any) -> Any:
    """Return a content that begins with reasoning, as tagged text or as a part."""
    if field in _TAGS:
        return f"<{_TAGS[field]}>\n{text}\n</{_TAGS[field]}>\n\n{content or ''}"
    steps = [{"type": "text", "text": text}]
    part: dict[str, Any] = {"type": "thinking", "thinking": steps}
    if field == "reasoning-parts":
        part = {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}
    return [part, *([{"type": "text", "text": content}] if content else [])]


def _in_clear(text: str | None) -> list[dict[str, str]]:
    return [] if text is None else [{"type": "reasoning.text", "text": text}]


def _block(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Return the signed block that a reasoning detail stands for."""
    if detail.get("type") == "reasoning.encrypted":
        return {"type": "redacted_thinking", "data": detail.get("data")}
    signature = {"signature": detail["signature"]} if "signature" in detail else {}
    return {"type": "thinking", "thinking": detail.get("text", detail.get("summary", ""))} | signature
