"""What a request declares of the functions that a reply may call."""

from typing import Any

from conformance.wire.parts import Call


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
