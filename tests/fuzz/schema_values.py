"""Values drawn from a JSON Schema: mostly valid ones, with every member that the schema names now and then."""

from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath
from random import Random
from typing import Any, Final

from conformance.documents import read_json
from conformance.documents.pointer import parse
from conformance.resources import folder

_DEEPEST: Final = 9
_EVEN: Final = 0.5
_WORDS: Final = ("", "a", "Hi", "call_1", "get_time", '{"city": "Paris"}', "雪", "2026-11-22", "<think>x</think>")
_NUMBERS: Final = (0, 1, 2, 20, 1767225600, 0.5, -1)
_TYPES: Final = ("string", "integer", "object", "array", "boolean", "null")


def drawn(rng: Random, file: str) -> Any:
    """Return a value of the schema in a file below `schemas/`, such as `wires/gemini/reply.json`."""
    return _value(rng, file, _document(file), 0)


@cache
def _document(file: str) -> Any:
    return read_json(folder("schemas") / file)


def _resolved(file: str, schema: Any) -> tuple[str, Any]:
    """Return a schema after its references, and the file that it is in."""
    while isinstance(schema, dict) and "$ref" in schema:
        name, _, pointer = schema["$ref"].partition("#")
        file = str(PurePosixPath(file).with_name(name)) if name else file
        target = _document(file)
        for token in parse(pointer):
            target = target[int(token) if isinstance(target, list) else token]
        rest = {key: each for key, each in schema.items() if key != "$ref"}
        schema = {**target, **rest} if isinstance(target, dict) else target
    return file, schema


def _value(rng: Random, file: str, schema: Any, depth: int) -> Any:
    file, schema = _resolved(file, schema)
    if not isinstance(schema, dict):
        return rng.choice(_WORDS)
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else rng.choice(schema["enum"])
    if "if" in schema and "type" not in schema and "properties" not in schema:
        return _value(rng, file, schema[rng.choice(("then", "else"))], depth)
    for several in ("anyOf", "oneOf"):
        if several in schema:
            chosen = rng.choice(schema[several])
            place, other = _resolved(file, chosen)
            return _value(
                rng, place, _merged({key: each for key, each in schema.items() if key != several}, other), depth
            )
    kinds = schema.get("type", "object" if "properties" in schema or "allOf" in schema else _TYPES)
    return _of_kind(rng, kinds if isinstance(kinds, str) else rng.choice(kinds), (file, schema), depth)


def _of_kind(rng: Random, kind: str, at: tuple[str, Any], depth: int) -> Any:
    """Return a value of a type; `at` is the schema that it obeys, with its file."""
    file, schema = at
    if kind in ("object", "array"):
        if depth > _DEEPEST:
            return {} if kind == "object" else []
        return _members(rng, file, schema, depth) if kind == "object" else _items(rng, file, schema, depth)
    least = schema.get("minimum", -1)
    return {
        "string": rng.choice(_WORDS) or "x" * schema.get("minLength", 0),
        "integer": int(max(rng.choice(_NUMBERS), least)),
        "number": max(rng.choice(_NUMBERS), least),
        "boolean": rng.random() < _EVEN,
    }.get(kind)


def _items(rng: Random, file: str, schema: Any, depth: int) -> list[Any]:
    count = min(rng.choice((0, 1, 1, 2, 3)), schema.get("maxItems", 3))
    count = max(count, schema.get("minItems", 0))
    return [_value(rng, file, schema.get("items", True), depth + 1) for _ in range(count)]


def _members(rng: Random, file: str, schema: Any, depth: int) -> dict[str, Any]:
    """Return an object by its schema and by those of its branches whose condition holds."""
    found: dict[str, Any] = {}
    for name in schema.get("properties", {}):
        asked = _constants(schema, name)
        if asked and rng.random() < 0.9:
            found[name] = rng.choice(asked)
    whole, home = schema, file
    for place, branch in _active(file, schema, found):
        whole = _merged(whole, branch)
        # References are read in the file of the last branch that has some.
        home = place if "$ref" in str(branch) else home
    for name, inner in whole.get("properties", {}).items():
        if name not in found and (name in whole.get("required", ()) or rng.random() < 0.45):
            found[name] = _value(rng, home, inner, depth + 1)
    return found


def _constants(schema: Any, name: str) -> list[Any]:
    """Return the values of a member that the conditions of a schema name, those inside others included."""
    if not isinstance(schema, dict):
        return []
    condition = schema.get("if", {}).get("properties", {}).get(name, {})
    inner = [*schema.get("allOf", ()), schema.get("then"), schema.get("else")]
    own = [*([condition["const"]] if "const" in condition else ()), *condition.get("enum", ())]
    return own + [found for each in inner for found in _constants(each, name)]


def _active(file: str, schema: Any, found: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the branches of a schema that apply to an object, each with the file that it is in."""
    parts = [*schema.get("allOf", ())]
    if "if" in schema:
        parts.append(schema.get("then" if _holds(schema["if"], found) else "else"))
    for part in parts:
        place, branch = _resolved(file, part)
        if isinstance(branch, dict):
            yield place, {key: each for key, each in branch.items() if key not in ("if", "then", "else", "allOf")}
            yield from _active(place, branch, found)


def _holds(condition: Any, found: dict[str, Any]) -> bool:
    """Return whether a condition holds of an object; a member that is missing meets it, unless it is required."""
    named = condition.get("properties", {})
    return all(name in found for name in condition.get("required", ())) and all(
        found[name] in _constants({"if": condition}, name) for name in named if name in found
    )


def _merged(one: Any, other: Any) -> Any:
    """Return a schema that says what both say; where they differ, what the other one says."""
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return other if isinstance(other, dict) or not isinstance(one, dict) else one
    both = {name: _merged(one[name], other[name]) for name in one if name in other and name != "required"}
    required = [*one.get("required", ()), *other.get("required", ())]
    return {**one, **other, **both, **({"required": required} if required else {})}
