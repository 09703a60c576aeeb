"""Where reasoning stands in an assistant message, and what a provider is claimed to make of it there.

Fields bear the names that the claims use: a key of the message, `thinking-parts` and `reasoning-parts` for parts of a
content list, `think-tags` and `reasoning-tags` for text at the start of a content string.
"""

from collections.abc import Mapping
from typing import Any

from conformance import profiles
from conformance.rules import Context

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


def text(message: dict[str, Any], field: str) -> str:
    """Return the readable text that a message carries under a field; empty where there is none."""
    value = message.get(field)
    if type(value) is str:
        return value
    if field in PARTS:
        value = [part for part in _objects(message.get("content")) if part.get("type") == PARTS[field]]
    return "".join([_spoken(item) for item in _objects(value)])


def listed(claimed: Any) -> tuple[str, ...]:
    """Return a claim that is one word or a list of them as a tuple; empty where there is none."""
    if type(claimed) is str:
        return (claimed,)
    return tuple(claimed) if isinstance(claimed, (list, tuple)) else ()


def in_replies(context: Context) -> tuple[str, ...]:
    """Return the fields in which this reply may hold reasoning: what the request asked for, else the usual ones."""
    if not context.claims:
        return ()
    body = context.exchange.request
    for switch in context.claim("reasoning.response-field-switches", ()) if type(body) is dict else ():
        if profiles.matches(switch, body):
            return listed(switch["field"])
    return listed(context.claim("reasoning.response-field"))


def in_requests(context: Context) -> tuple[str, ...]:
    """Return the fields that the provider reads, the canonical ones where nothing is claimed or none is read."""
    return tuple([field for field in listed(context.claim("reasoning.request-field")) if field != "none"]) or CANONICAL


def preserved(context: Context) -> bool:
    """Say whether the request asks the provider to read the reasoning of every turn."""
    for keeper in context.claim("thinking.preserve", ()):
        if profiles.matches(keeper, context.exchange.request):
            return bool(keeper["keeps"])
    return False


def bites(verdict: Any) -> bool:
    """Say whether a deviation is known to be refused or to do damage."""
    return verdict == "damaged" or isinstance(verdict, Mapping)


def refuses(verdict: Any) -> bool:
    """Say whether a deviation is known to be refused."""
    return isinstance(verdict, Mapping)


def omission(*, current: bool) -> str:
    """Return the claim that says what becomes of a tool turn without reasoning."""
    return "reasoning.omitted-on-tool-turn" if current else "reasoning.omitted-on-earlier-tool-turn"


def demanded(context: Context, *, current: bool) -> bool:
    """Say whether the provider is known to demand the reasoning of a tool turn in this request."""
    return bites(context.claims.get(omission(current=current))) and context.thinks is True


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
