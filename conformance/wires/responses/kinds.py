"""The kinds of items of Responses; apart, because every check has rules about items, and few files have any."""

from collections.abc import Mapping
from typing import Any, Final

CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
"""The kinds of calls that the client runs as functions, each with the key of what they are called with."""
OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")


def kind_of(item: Mapping[str, Any]) -> str:
    """Return the type of an item; a message may be without one."""
    kind = item.get("type")
    return kind if type(kind) is str else "message" if "role" in item else ""
