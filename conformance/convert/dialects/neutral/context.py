"""A context itself: its texts and calls, its tools, and the form in which it is sent to another model."""

import math
from collections.abc import Mapping
from typing import Any, Final

from conformance.documents.pointer import Place, copied
from conformance.wire.losses import Converted, Losses

CATEGORIES: Final = ("Input", "Output", "CacheRead", "CacheWrite")
"""The categories that tokens and cost are counted by."""

_TOOL_KEYS: Final = {"Name": "name", "Description": "description", "Parameters": "parameters"}
_SIGNATURES: Final = ("textSignature", "thinkingSignature", "thoughtSignature")


def miscounts(usage: Mapping[str, Any]) -> list[tuple[Place, str]]:
    """Return where a usage does not add up, each with "expected …, got …"; a total of zero counts as absent."""
    found: list[tuple[Place, str]] = []
    cost = usage.get("Cost") or {}
    for place, counts, total in ((("TotalTokens",), usage, "TotalTokens"), (("Cost", "Total"), cost, "Total")):
        expected, got = sum(counts.get(category) or 0 for category in CATEGORIES), counts.get(total)
        if got and not math.isclose(expected, got):
            found.append((place, f"expected {expected} for all categories, got {got}"))
    return found


def text(message: Mapping[str, Any] | None) -> str:
    """Return all text blocks of an assistant message, joined; empty if there is no message or no text."""
    blocks = (message or {}).get("Content") or ()
    return "".join(block["text"] for block in blocks if block["type"] == "TextContent")


def tool_calls(message: Mapping[str, Any] | None) -> list[dict[str, Any]] | None:
    """Return a copy of every tool call of an assistant message; None if there is none."""
    blocks = (message or {}).get("Content") or ()
    return [copied(block) for block in blocks if block["type"] == "ToolCall"] or None


def definitions(context: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tools of a context as the wire defines them."""
    return [
        {
            "type": "function",
            "function": {_TOOL_KEYS[key]: value for key, value in tool.items() if value or key == "Name"},
        }
        for tool in context.get("Tools") or ()
    ]


def tools(given: list[dict[str, Any]]) -> Converted:
    """Return the tools of a context for definitions of the wire; built-in tools of a provider are lost."""
    losses = Losses()
    back = {wire: key for key, wire in _TOOL_KEYS.items()}
    found = []
    for position, definition in enumerate(given):
        if definition["type"] != "function":
            losses.add((position,), "a built-in tool of the provider")
            continue
        function = definition["function"]
        found.append({back[key]: value for key, value in function.items() if key in back})
        for key in definition:
            if key not in ("type", "function"):
                losses.add((position, key), "a tool has only a name, a description and parameters")
        for key in function:
            if key not in back:
                losses.add((position, "function", key), "a tool has only a name, a description and parameters")
    return losses.converted(found)


def replayed(context: dict[str, Any], model: str, provider: str = "", protocol: str = "") -> Converted:
    """Return a context to send to a model: reasoning of other models loses its signatures, or all if it is encrypted.

    `provider` and `protocol` are compared if they are given. A message without a model counts as another model's.
    """
    target = {"Model": model} | {key: value for key, value in (("Provider", provider), ("Protocol", protocol)) if value}
    losses = Losses()
    messages = []
    for position, message in enumerate(context["Messages"] or ()):
        is_other = message["type"] == "AssistantMessage" and any(message.get(key) != target[key] for key in target)
        messages.append(_unsigned(message, position, losses) if is_other else message)
    return losses.converted({**context, "Messages": messages})


def _unsigned(message: dict[str, Any], position: int, losses: Losses) -> dict[str, Any]:
    blocks = []
    for number, block in enumerate(message["Content"] or ()):
        place = ("Messages", position, "Content", number)
        if block.get("redacted") or (block.get("thinkingSignature") and not block["thinking"]):
            losses.add(place, "another model's reasoning, of which there is only the signature")
            continue
        for key in _SIGNATURES:
            if block.get(key):
                losses.add((*place, key), "another model cannot verify it")
        blocks.append({key: value for key, value in block.items() if key not in _SIGNATURES})
    return {**message, "Content": blocks}
