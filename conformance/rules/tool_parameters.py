"""The parameters of declared functions, the schemas in them, and how vendors name places in them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.documents.pointer import value_at
from conformance.rules.context import Context
from conformance.wire.elements import Body
from conformance.wire.values import as_object
from conformance.wires.gemini.names import snake_case

MOST: Final = 10_000
"""No schema of a tool has more parts than this; of one that has, the rest is not looked at."""

_COMPOSED: Final = ("anyOf", "oneOf", "allOf")
_RAW: Final = frozenset({"parametersJsonSchema", "parameters_json_schema"})


def parameters_of(tool: Body, context: Context) -> dict[str, Any] | None:
    """Return the schema of a function's parameters; None if it has none, or if Gemini takes it as JSON Schema."""
    function = tool.value.get("function") if type(tool.value) is dict else None
    parameters = function.get("parameters") if type(function) is dict else None
    return None if type(parameters) is not dict or _is_raw(tool, context) else parameters


def parameters_as_sent(tool: Body, context: Context) -> dict[str, Any] | None:
    """Return the same as it was sent: Gemini's own schemas say `nullable`, which the translation turns into a type."""
    parameters = parameters_of(tool, context)
    native = context.exchange.native
    if native is None or parameters is None:
        return parameters
    _, _, *place = native.place(tool.place)
    sent = as_object(value_at(native.request, place)).get("parameters")
    return sent if type(sent) is dict else parameters


def _is_raw(tool: Body, context: Context) -> bool:
    """Return whether Gemini gets the parameters as a JSON Schema, beside the subset that it takes as `parameters`."""
    native = context.exchange.native
    if native is None:
        return False
    _, _, *place = native.place(tool.place)
    return not _RAW.isdisjoint(value_at(native.request, place) or ())


def parts(schema: Mapping[str, Any] | None) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the path and the value of each schema in one, itself first; a path is as OpenAI's refusals name it.

    A function without parameters has none.
    """
    waiting: list[tuple[tuple[str, ...], Any]] = [((), schema)]
    for _ in range(MOST):
        if not waiting:
            return
        path, part = waiting.pop()
        if type(part) is not dict:
            continue
        yield path, part
        inner = [((*path, "items"), part.get("items"))]
        properties = part.get("properties")
        members = properties.items() if type(properties) is dict else ()
        inner += [((*path, "properties", name), each) for name, each in members]
        for key in _COMPOSED:
            branches = part.get(key)
            listed = branches if type(branches) is list else ()
            inner += [((*path, key, str(at)), each) for at, each in enumerate(listed)]
        # A stack, so that no schema is too deep for it; reversed, so that the first property comes first.
        waiting += reversed(inner)


def types_of(part: Mapping[str, Any]) -> list[str]:
    """Return the types that a schema allows, in lower case; Gemini's are in capitals."""
    kinds = part.get("type")
    return [str(each).lower() for each in (kinds if type(kinds) is list else [kinds])]


def is_array(part: Mapping[str, Any]) -> bool:
    """Return whether a schema allows an array."""
    return "array" in types_of(part)


def named(path: tuple[str, ...], protocol: str) -> str:
    """Return a path as the refusals of a wire's vendor name it: a tuple of words, or `.properties[x].items`."""
    if protocol != "gemini":
        return repr(path)
    words = ""
    for before, word in zip(("", *path), path, strict=False):
        is_inside = before in ("properties", *_COMPOSED)
        words += f"[{word}]" if is_inside else f".{snake_case(word)}"
    return words


def numbered(path: tuple[str, ...], schema: Any) -> str:
    """Return a path as Gemini's parser names it, where properties have numbers: `.properties[2].value`."""
    words, value = "", schema
    for token in path:
        if type(value) is list:
            words, value = f"{words}[{token}]", value[int(token)]
        elif words.endswith(".properties"):
            words, value = f"{words}[{[*value].index(token)}].value", value[token]
        else:
            words, value = f"{words}.{snake_case(token)}", value[token]
    return words
