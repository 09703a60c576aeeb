"""The functions that a request declares for a reply to call."""

from typing import Any

from conformance.wire.elements import Call


def definition(call: Call) -> dict[str, Any] | None:
    """Return the request's definition of the called function; None if it has none of that name.

    Providers' own kinds of tools count too if they have the form of functions: `custom`, `builtin_function`.
    """
    tools = call.request.get("tools") if call.request is not None else None
    for tool in tools if type(tools) is list else ():
        if type(tool) is dict:
            function = tool.get("function", tool.get("custom"))
            if type(function) is dict and function.get("name") == call.name:
                return function
    return None


def names(request: dict[str, Any]) -> list[Any]:
    """Return the names of a request's tools, or the types of those that are not functions."""
    tools = request.get("tools")
    functions = [
        (tool.get("function", tool.get("custom")), tool.get("type"))
        for tool in (tools if type(tools) is list else ())
        if type(tool) is dict
    ]
    return [function.get("name") if type(function) is dict else kind for function, kind in functions]


def open_object(schema: Any) -> tuple[str, ...] | None:
    """Return the path of the first object of a JSON Schema that allows undeclared keys; None if there is none.

    The path consists of `properties`, property names and `items`; an object comes before those inside it.
    """
    waiting: list[tuple[tuple[str, ...], Any]] = [((), schema)]
    while waiting:
        path, value = waiting.pop(0)
        if type(value) is not dict:
            continue
        properties = value.get("properties")
        is_object = value.get("type") == "object" or type(properties) is dict
        if is_object and value.get("additionalProperties") is not False:
            return path
        inner = [((*path, "items"), value["items"])] if "items" in value else []
        inner += [
            ((*path, "properties", name), schema)
            for name, schema in (properties if type(properties) is dict else {}).items()
        ]
        waiting = inner + waiting
    return None
