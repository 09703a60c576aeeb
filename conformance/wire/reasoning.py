"""Where reasoning stands in an assistant message.

Fields bear the names that the claims use: a key of the message, `thinking-parts` and `reasoning-parts` for parts of a
content list, `think-tags` and `reasoning-tags` for text at the start of a content string.
"""

from typing import Any

from conformance.wire.resent import said

KEYS = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
CANONICAL = ("reasoning_content", "reasoning_details")
TAGS = {"think-tags": "think", "reasoning-tags": "reasoning"}
PARTS = {"thinking-parts": "thinking", "reasoning-parts": "reasoning"}
_ANY = frozenset(KEYS)


def carried(message: dict[str, Any]) -> list[str]:
    """Return the fields under which a message carries reasoning; empty and null values are none."""
    found = [] if _ANY.isdisjoint(message) else [key for key in KEYS if message.get(key)]
    content = message.get("content")
    return found + _parts(content) if type(content) is list else found


def present(message: dict[str, Any]) -> list[str]:
    """Return the fields of reasoning that a message has at all; an empty value counts, null does not."""
    found = [] if _ANY.isdisjoint(message) else [key for key in KEYS if message.get(key) is not None]
    content = message.get("content")
    return found + _parts(content) if type(content) is list else found


def has(message: dict[str, Any], field: str) -> bool:
    """Say whether a message has reasoning under one field: an empty value counts, null does not."""
    if field in TAGS:
        return tagged(message, TAGS[field]) is not None
    if field in PARTS:
        content = message.get("content")
        return type(content) is list and field in _parts(content)
    if field == "extra_content":
        extra = message.get("extra_content")
        return type(extra) is dict and extra.get("google") is not None
    return message.get(field) is not None


def tagged(message: dict[str, Any], tag: str = "think") -> str | None:
    """Return the text between the tags at the start of a content string; None where there are none.

    A closing tag without an opening one counts: chat templates put the opening tag into the prompt.
    """
    content = message.get("content")
    if type(content) is not str or f"{tag}>" not in content:
        return None
    head, closed, _ = content.partition(f"</{tag}>")
    opened = head.lstrip().startswith(f"<{tag}>")
    if not opened and (not closed or f"<{tag}>" in head):
        return None
    return head.strip().removeprefix(f"<{tag}>")


def untagged(content: Any) -> str:
    """Return the text of a content without the reasoning between tags at its start."""
    words = said(content)
    for tag in TAGS.values():
        if tagged({"content": words}, tag) is not None:
            return words.partition(f"</{tag}>")[2].lstrip()
    return words


def is_signed(message: Any) -> bool:
    """Say whether a message, or one of its calls, bears a signature of its reasoning."""
    if type(message) is not dict or message.get("role") != "assistant":
        return False
    calls, details = message.get("tool_calls"), message.get("reasoning_details")
    signed = [item for item in _objects(details) if item.get("signature") or item.get("data")]
    return bool(signed or message.get("thinking_blocks")) or any(
        has(each, "extra_content") for each in (message, *_objects(calls))
    )


def text(message: dict[str, Any], field: str) -> str:
    """Return the readable text that a message carries under a field; empty where there is none."""
    value = message.get(field)
    if type(value) is str:
        return value
    if field in PARTS:
        value = [part for part in _objects(message.get("content")) if part.get("type") == PARTS[field]]
    return "".join([_spoken(item) for item in _objects(value)])


def shown(value: Any) -> str:
    """Return a value as findings quote it: in Python's notation, cut to 40 characters."""
    quoted = repr(value)
    return quoted if len(quoted) <= 40 else quoted[:39] + "…"


def _parts(content: list[Any]) -> list[str]:
    kinds = [part["type"] for part in content if type(part) is dict and _is_thought(part)]
    return [field for field, kind in PARTS.items() if kind in kinds]


def _is_thought(part: dict[str, Any]) -> bool:
    kind = part.get("type")
    return kind in ("thinking", "reasoning") and bool(part.get("thinking") or part.get("summary") or part.get("text"))


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if type(each) is dict] if type(value) is list else []


def _spoken(item: dict[str, Any]) -> str:
    """Return what a detail, a block or a part says: its text, or that of the steps that it holds."""
    for key in ("text", "summary", "thinking"):
        value = item.get(key)
        if type(value) is str:
            return value
        if type(value) is list:
            return "".join([step["text"] for step in _objects(value) if type(step.get("text")) is str])
    return ""
