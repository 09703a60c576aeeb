"""The functions that a request declares for a reply to call."""

from typing import Any, NamedTuple

from conformance.wire.keys import key_of


class Definitions(NamedTuple):
    """What a request declares: the functions by the key of their name, and the names of its tools.

    `names` has the type of a tool that is not a function. `are_named`: whether each of them is a string. Of functions
    with the same name, the first counts. Providers' own kinds of tools count too if they have the form of functions:
    `custom`, `builtin_function`.
    """

    functions: dict[Any, dict[str, Any]]
    names: list[Any]
    are_named: bool


def definitions(request: Any) -> Definitions:
    """Return the definitions in a request body; there are none if it is not an object."""
    tools = request.get("tools") if type(request) is dict else None
    functions: dict[Any, dict[str, Any]] = {}
    names = []
    for tool in tools if type(tools) is list else ():
        if type(tool) is dict:
            function = tool.get("function", tool.get("custom"))
            if type(function) is dict:
                functions.setdefault(key_of(function.get("name")), function)
            names.append(function.get("name") if type(function) is dict else tool.get("type"))
    return Definitions(functions, names, all([type(name) is str for name in names]))


def open_object(schema: Any) -> tuple[str, ...] | None:
    """Return the path of the first object of a JSON Schema that allows undeclared keys; None if there is none.

    The path consists of `properties`, property names and `items`; an object comes before those inside it.
    """
    waiting: list[tuple[tuple[str, ...], Any]] = [((), schema)]
    while waiting:
        path, value = waiting.pop()
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
        # A stack, so that no schema is too deep for it; reversed, so that the first property comes first.
        waiting += reversed(inner)
    return None
