"""The tools of a context; the schema of a tool's parameters passes through untouched."""

from typing import Any, Final

from conformance.convert.dialects import Converted, Losses

_KEYS: Final = {"Name": "name", "Description": "description", "Parameters": "parameters"}


def definitions(context: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tools of a context as the wire defines them."""
    return [
        {"type": "function", "function": {_KEYS[key]: value for key, value in tool.items() if value or key == "Name"}}
        for tool in context.get("Tools") or ()
    ]


def tools(given: list[dict[str, Any]]) -> Converted:
    """Return the tools of a context for definitions of the wire; a provider's own tools have no place there."""
    losses = Losses()
    back = {wire: key for key, wire in _KEYS.items()}
    found = []
    for position, definition in enumerate(given):
        if definition["type"] != "function":
            losses.add((position,), "a tool of the provider's own")
            continue
        function = definition["function"]
        found.append({back[key]: value for key, value in function.items() if key in back})
        for key in definition:
            if key not in ("type", "function"):
                losses.add((position, key), "a tool is a name, a description and parameters")
        for key in function:
            if key not in back:
                losses.add((position, "function", key), "a tool is a name, a description and parameters")
    return losses.converted(found)
