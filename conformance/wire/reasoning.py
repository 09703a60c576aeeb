"""Where an assistant message holds reasoning.

Fields have the names that claims use: a key of the message, `thinking-parts` and `reasoning-parts` for parts of a
content list, `think-tags` and `reasoning-tags` for text between tags at the start of a content string. `key:NAME` is
the text under a key that no other provider uses for it.
"""

from typing import Any, Final, NamedTuple

from conformance.wire.text import content_text

PAIR: Final = ("reasoning_content", "reasoning")
"""The two names that most providers use for the text of the reasoning."""
TEXT_KEYS: Final = (*PAIR, "reasoning_text")
"""The keys of a message whose value is the text of the reasoning."""
KEYS: Final = (*TEXT_KEYS, "reasoning_details", "thinking_blocks")
SIGNATURE_KEYS: Final = ("reasoning_opaque", "extra_content")
"""The keys of a message that hold only the signature of its reasoning."""
ALL_KEYS: Final = (*KEYS, *SIGNATURE_KEYS)
CANONICAL: Final = ("reasoning_content", "reasoning_details")
TAGS: Final = {"think-tags": "think", "reasoning-tags": "reasoning"}
PARTS: Final = {"thinking-parts": "thinking", "reasoning-parts": "reasoning"}
FIELDS: Final = (*ALL_KEYS, *PARTS, *TAGS)
"""Every field in which claims can locate reasoning."""

FOREIGN: Final = "key:"
"""How the name of a field begins that is a key of a message beyond those that this module knows."""

_TELLING: Final = 12
"""How many characters beside white space a text has that does not occur twice by chance."""

_KEY_SET: Final = frozenset(KEYS)
_PLAIN: Final = frozenset(ALL_KEYS) - {"extra_content"}


class Tagged(NamedTuple):
    """A content string that begins with reasoning between tags: the reasoning, the rest, and which tags it has."""

    reasoning: str
    rest: str
    opened: bool
    closed: bool


def key_of(field: str) -> str:
    """Return the key of a message that a field of text is."""
    return field.removeprefix(FOREIGN)


def foreign_keys(fields: Any) -> tuple[str, ...]:
    """Return the keys that a claim about fields names beyond those that this module knows; the claim may be a list."""
    named = fields if type(fields) in (list, tuple) else (fields,)
    return tuple([key_of(field) for field in named if type(field) is str and field.startswith(FOREIGN)])


def carried_fields(message: dict[str, Any]) -> list[str]:
    """Return the fields under which a message carries reasoning; empty and null values do not count."""
    found = [] if _KEY_SET.isdisjoint(message) else [key for key in KEYS if message.get(key)]
    content = message.get("content")
    return found + _part_fields(content) if type(content) is list else found


def present_fields(message: dict[str, Any]) -> list[str]:
    """Return the reasoning fields that a message has; an empty value counts, null does not."""
    found = [] if _KEY_SET.isdisjoint(message) else [key for key in KEYS if message.get(key) is not None]
    content = message.get("content")
    return found + _part_fields(content) if type(content) is list else found


def has_field(message: dict[str, Any], field: str) -> bool:
    """Return whether a message has reasoning under a field; an empty value counts, null does not."""
    if field in _PLAIN:
        return message.get(field) is not None
    if field in TAGS:
        return find_tagged(message.get("content"), TAGS[field]) is not None
    if field in PARTS:
        content = message.get("content")
        return type(content) is list and field in _part_fields(content)
    if field == "extra_content":
        extra = message.get("extra_content")
        return type(extra) is dict and extra.get("google") is not None
    return message.get(key_of(field)) is not None


def find_tagged(content: Any, tag: str = "think") -> Tagged | None:
    """Return the reasoning between tags at the start of a content string; None if there are no such tags.

    An end tag without a start tag counts, because chat templates put the start tag into the prompt. So does a start
    tag without an end tag: then the rest is empty.
    """
    if type(content) is not str or f"{tag}>" not in content:
        return None
    head, end, rest = content.partition(f"</{tag}>")
    opened, closed = head.lstrip().startswith(f"<{tag}>"), bool(end)
    if not opened and (not closed or f"<{tag}>" in head):
        return None
    return Tagged(head.strip().removeprefix(f"<{tag}>"), rest, opened, closed)


def prepend_reasoning(content: Any, reasoning: str, field: str) -> Any:
    """Return a content that begins with reasoning: between the tags of a field, or as a part."""
    if field in TAGS:
        # The line breaks are those of the chat templates.
        return f"<{TAGS[field]}>\n{reasoning}\n</{TAGS[field]}>\n\n{content_text(content)}"
    part: dict[str, Any] = {"type": "thinking", "thinking": [{"type": "text", "text": reasoning}]}
    if field == "reasoning-parts":
        part = {"type": "reasoning", "summary": [{"type": "summary_text", "text": reasoning}]}
    rest = content if type(content) is list else [{"type": "text", "text": content}] if content else []
    return [part, *rest]


def untagged_text(content: Any) -> str:
    """Return the text of a content without reasoning between tags at its start."""
    text = content_text(content)
    for tag in TAGS.values():
        tagged = find_tagged(text, tag)
        if tagged is not None:
            return tagged.rest.lstrip()
    return text


def is_signed(message: Any) -> bool:
    """Return whether a message, or one of its calls, has a signature of its reasoning."""
    if type(message) is not dict or message.get("role") != "assistant":
        return False
    calls, details = message.get("tool_calls"), message.get("reasoning_details")
    signed = [item for item in _objects(details) if item.get("signature") or item.get("data")]
    return bool(signed or message.get("thinking_blocks") or message.get("reasoning_opaque")) or any(
        has_field(holder, "extra_content") for holder in (message, *_objects(calls))
    )


def reasoning_text(message: dict[str, Any], field: str) -> str:
    """Return the readable reasoning that a message carries under a field; empty if there is none."""
    value = message.get(key_of(field))
    if type(value) is str:
        return value
    if field in PARTS:
        value = [part for part in _objects(message.get("content")) if part.get("type") == PARTS[field]]
    return "".join([_item_text(item) for item in _objects(value)])


def is_telling(reasoning: str) -> bool:
    """Return whether reasoning is long enough that nothing else says the same by chance."""
    words = reasoning.split()
    # Chinese and Japanese have no spaces between words.
    has_words = len(words) > 2 or any([sign.isalpha() and not sign.isascii() for sign in reasoning])
    return has_words and sum(map(len, words)) >= _TELLING


def _part_fields(content: list[Any]) -> list[str]:
    kinds = [part["type"] for part in content if type(part) is dict and _is_reasoning(part)]
    return [field for field, kind in PARTS.items() if kind in kinds]


def _is_reasoning(part: dict[str, Any]) -> bool:
    kind = part.get("type")
    return kind in ("thinking", "reasoning") and bool(part.get("thinking") or part.get("summary") or part.get("text"))


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if type(item) is dict] if type(value) is list else []


def _item_text(item: dict[str, Any]) -> str:
    """Return the text of a detail, a block or a part, or the joined text of its steps."""
    for key in ("text", "summary", "thinking"):
        value = item.get(key)
        if type(value) is str:
            return value
        if type(value) is list:
            return "".join([step["text"] for step in _objects(value) if type(step.get("text")) is str])
    return ""
