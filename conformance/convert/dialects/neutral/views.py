"""Readers over an assistant's message of the neutral model, both in the order of its blocks."""

import copy
from collections.abc import Mapping
from typing import Any


def text(message: Mapping[str, Any] | None) -> str:
    """Return all text blocks joined; empty for no message and for one without text."""
    blocks = (message or {}).get("Content") or ()
    return "".join(block["text"] for block in blocks if block["type"] == "TextContent")


def tool_calls(message: Mapping[str, Any] | None) -> list[dict[str, Any]] | None:
    """Return a copy of every tool call, or None where the model made none."""
    blocks = (message or {}).get("Content") or ()
    return [copy.deepcopy(block) for block in blocks if block["type"] == "ToolCall"] or None
