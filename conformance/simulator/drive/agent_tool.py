"""A tool of an agent that does a deed, and what its schema takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from conformance.wire.values import as_object, objects

_KINDS: Final[Mapping[type, str]] = {
    str: "string", bool: "boolean", int: "integer", list: "array", type(None): "null", dict: "object",
}  # fmt: skip
_LIMITING: Final = ("enum", "const", "pattern", "format", "maxLength")
_COMBINING: Final = ("allOf", "anyOf", "oneOf", "not", "if", "$ref", "dependentRequired")


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool that does a deed, and its arguments, which hold places such as `{path}`.

    `is_known`: it is one of a known agent; otherwise its meaning was found by its name, its words and its schema.
    """

    deed: str
    name: str
    arguments: Mapping[str, Any]
    is_known: bool = False

    def call(self, values: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
        """Return a call of the tool: its name and its arguments, with the values in their places."""
        return self.name, {key: _filled(value, values) for key, value in self.arguments.items()}


def schema_of(function: Mapping[str, Any]) -> tuple[Mapping[str, Any], frozenset[str]]:
    """Return the parameters of a function, and the names of those that it requires; none if they depend on others."""
    schema = as_object(function.get("parameters"))
    required = schema.get("required")
    names = [each for each in required if type(each) is str] if type(required) is list else []
    if any(key in schema for key in _COMBINING):
        return {}, frozenset(names)
    return as_object(schema.get("properties")), frozenset(names)


def takes(schema: Any, value: Any) -> bool:
    """Return whether a schema takes a value; of one that holds a place, whether it takes any value of that type."""
    about = as_object(schema)
    options = [each for key in ("anyOf", "oneOf") for _, each in objects(about.get(key))]
    if options:
        return any(takes(each, value) for each in options)
    if type(value) is str and not _is_limited(about, value):
        return _is_typed(about, "string")
    if type(value) is list:
        return _is_typed(about, "array") and takes(about.get("items"), value[-1])
    if type(value) is dict and "properties" in about:
        properties, required = schema_of({"parameters": about})
        fits = value.keys() <= properties.keys() and required <= value.keys()
        return fits and all(takes(properties[key], each) for key, each in value.items())
    return type(value) is not str and _is_typed(about, _KINDS[type(value)])


def _is_limited(schema: Mapping[str, Any], text: str) -> bool:
    """Return whether a schema takes some texts only, and perhaps not this one."""
    if "{" in text:
        return any(word in schema for word in _LIMITING)
    listed = schema.get("enum")
    return (type(listed) is list and text not in listed) or schema.get("const", text) != text


def _is_typed(schema: Mapping[str, Any], kind: str) -> bool:
    declared = schema.get("type")
    names = declared if type(declared) is list else [declared]
    return declared is None or kind in names or (kind == "integer" and "number" in names)


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    if type(value) is list:
        return [_filled(each, values) for each in value]
    if type(value) is dict:
        return {key: _filled(each, values) for key, each in value.items()}
    if type(value) is str and value.startswith("{") and value.endswith("}"):
        return values[value[1:-1]]
    return value
