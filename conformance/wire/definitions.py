"""What a request declares of the functions that a reply may call."""

from typing import Any

from conformance.wire.elements import Call


def definition(call: Call) -> dict[str, Any] | None:
    """Return the definition of the called function as the request has it; None where it has none of that name.

    Hosts' own kinds of tools count too where they are written like functions: `custom`, `builtin_function`.
    """
    tools = call.request.get("tools") if call.request is not None else None
    for tool in tools if type(tools) is list else ():
        if type(tool) is dict:
            function = tool.get("function", tool.get("custom"))
            if type(function) is dict and function.get("name") == call.name:
                return function
    return None


def names(request: dict[str, Any]) -> list[Any]:
    """Return the names of a request's tools as they stand there, or their types where they are no functions."""
    tools = request.get("tools")
    functions = [
        (tool.get("function", tool.get("custom")), tool.get("type"))
        for tool in (tools if type(tools) is list else ())
        if type(tool) is dict
    ]
    return [each.get("name") if type(each) is dict else kind for each, kind in functions]


def open_object(schema: Any) -> tuple[str, ...] | None:
    """Return where the first object of a JSON Schema stands that takes keys which it does not declare; None: nowhere.

    The path is made of `properties`, property names and `items`, each object before what it holds.
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
            ((*path, "properties", name), each)
            for name, each in (properties if type(properties) is dict else {}).items()
        ]
        waiting = inner + waiting
    return None
