"""Calls in the form of the tool that a request declares: a custom tool is called with a text, others in a namespace."""

from collections.abc import Mapping
from typing import Any

from conformance.wire.arguments import decode
from conformance.wire.values import as_word, objects
from conformance.wires.responses.blocks import name_of


def declared_tools(tools: Any, space: str = "") -> dict[str, dict[str, Any]]:
    """Return the functions and custom tools in a list by their names; those of a namespace have that before them."""
    found: dict[str, dict[str, Any]] = {}
    for _, tool in objects(tools):
        if tool.get("type") == "namespace":
            found |= declared_tools(tool.get("tools"), as_word(tool.get("name")))
        elif type(tool.get("name")) is str:
            named = {**tool, "namespace": space} if space else dict(tool)
            found.setdefault(str(name_of(named)), named)
    return found


def as_declared(item: dict[str, Any], declared: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a call in the form of its tool: of a custom tool with its text, of one in a namespace with that."""
    tool = declared.get(as_word(item.get("name"))) if item["type"] == "function_call" else None
    if tool is None:
        return item
    if "namespace" in tool:
        item = {**item, "name": tool["name"], "namespace": tool["namespace"]}
    if tool.get("type") != "custom":
        return item
    text = decode(str(item.get("arguments"))).get("input")
    rest = {key: value for key, value in item.items() if key not in ("type", "arguments")}
    return {"type": "custom_tool_call", **rest, "input": text if type(text) is str else item.get("arguments")}
