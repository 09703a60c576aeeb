"""What a schema of parameters or of a reply says, compared with what it became behind a gateway."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place, parse, place_of, value_at
from conformance.wire.values import as_object, rendered

NOTES: Final = frozenset(
    {"$schema", "$id", "$comment", "title", "example", "examples", "default", "strict", "propertyOrdering"}
)
"""Keywords that say nothing about what is valid."""

_NAMED: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})
_DEFINED: Final = frozenset({"$defs", "definitions"})
_SETS: Final = frozenset({"required", "enum", "type"})
"""Keywords whose lists have no order."""

_OTHER_NAMES: Final = {"oneOf": "anyOf"}
_DEEPEST: Final = 64


class SchemaLoss(NamedTuple):
    """What a schema no longer says: the place in it, its keyword, how deep the keyword is, and what became of it."""

    place: Place
    keyword: str
    is_at_root: bool
    message: str


@dataclass(frozen=True, slots=True)
class _Schemas:
    """The two schemas; `is_part`: whether the other one is of a wire that takes a part of JSON Schema, as OpenAPI."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    is_part: bool


def losses(before: Mapping[str, Any], after: Mapping[str, Any], *, is_part: bool = False) -> Iterator[SchemaLoss]:
    """Yield what a schema says that the other does not; a reference counts as what it refers to."""
    yield from _of_part(before, after, (), _Schemas(before, after, is_part))


def _of_part(before: Any, after: Any, place: Place, schemas: _Schemas) -> Iterator[SchemaLoss]:
    if len(place) > _DEEPEST:
        return
    given, got = _resolved(before, schemas.before), _resolved(after, schemas.after)
    for key, value in given.items():
        if key in _DEFINED or value in ([], {}):
            continue
        at = (*place, key)
        if key in _NAMED and type(value) is dict:
            yield from _of_named(key, value, as_object(got.get(key)), at, schemas)
            continue
        inner = _inner(key, value, got)
        if inner:
            for number, one, other in inner:
                yield from _of_part(one, other, (*at, *number), schemas)
        elif not _is_same(key, value, given, got, is_part=schemas.is_part):
            yield SchemaLoss(at, key, len(at) == 1, f"as it was, {value!r:.60}, got {got.get(key)!r:.60}")


def _of_named(
    key: str, value: Mapping[str, Any], got: Mapping[str, Any], place: Place, schemas: _Schemas
) -> Iterator[SchemaLoss]:
    """Yield what the schemas by name no longer say, such as those of properties."""
    for name, part in value.items():
        if type(got.get(name)) in (dict, bool):
            yield from _of_part(part, got[name], (*place, name), schemas)
        else:
            yield SchemaLoss((*place, name), key, len(place) == 1, "as it was, got none")


def _inner(key: str, value: Any, got: Mapping[str, Any]) -> list[tuple[Place, Any, Any]]:
    """Return the schemas that a keyword holds, each with its place and the one that it became; none if it is gone."""
    other = got.get(key, got.get(_OTHER_NAMES.get(key, key)))
    if key in NOTES:
        return []
    if type(value) is dict and type(other) is dict:
        return [((), value, other)]
    is_list = type(value) is list and all([type(each) is dict for each in value])
    if is_list and type(other) is list and len(other) == len(value):
        return [((at,), one, two) for at, (one, two) in enumerate(zip(value, other, strict=True))]
    return []


def _resolved(part: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema with what it refers to in the same document, beside what it says itself."""
    found, seen = as_object(part), set[str]()
    while type(target := found.get("$ref")) is str and target.startswith("#/") and target not in seen:
        seen.add(target)
        referred = value_at(root, place_of(parse(target[1:])))
        if type(referred) is not dict:
            break
        found = {**referred, **{key: value for key, value in found.items() if key != "$ref"}}
    return found


def _is_same(key: str, value: Any, given: Mapping[str, Any], got: Mapping[str, Any], *, is_part: bool) -> bool:
    """Return whether a keyword still says the same, by itself or in the words of another one."""
    other = got.get(key)
    if _comparable(key, other, is_part=is_part) == _comparable(key, value, is_part=is_part):
        return True
    if key in _INCLUSIVE and given.get("type") == "integer" and type(value) is int:
        name, step = _INCLUSIVE[key]
        return type(got.get(name)) is int and got[name] == value + step
    if key == "const":
        one, other = [_comparable("enum", each, is_part=is_part) for each in ([value], got.get("enum"))]
        return bool(one == other)
    return _says_type(key, value, got)


def _says_type(key: str, value: Any, got: Mapping[str, Any]) -> bool:
    """Return whether what is said of types, or of null as one, is said in another way."""
    if key == "type":
        # A type may become one of several, such as null.
        return (isinstance(got.get(key), list) and value in got[key]) or _says_types(value, got)
    if key == "nullable":
        return value is not True or _allows_null(got)
    return key in ("anyOf", "oneOf") and _says_null(value, got)


_INCLUSIVE: Final = {"exclusiveMinimum": ("minimum", 1), "exclusiveMaximum": ("maximum", -1)}


def _comparable(key: str, value: Any, *, is_part: bool) -> Any:
    """Return a value in one notation: a wire that takes a part of JSON Schema has counts and listed values as text."""
    if key == "type":
        value = [str(each).lower() for each in value] if isinstance(value, list) else str(value).lower()
    if key in _SETS and isinstance(value, list):
        texts = [each if type(each) is str and is_part else rendered(each) for each in value]
        return sorted(texts)
    if is_part and type(value) is str and value.isdecimal() and key.startswith(("min", "max")):
        return int(value)
    return value


def _says_types(value: Any, got: Mapping[str, Any]) -> bool:
    """Return whether several types are said in another way: as alternatives, or as one that is nullable."""
    if not isinstance(value, list):
        return False
    wanted = sorted([str(each).lower() for each in value])
    alternatives = got.get("anyOf", got.get("any_of"))
    if isinstance(alternatives, list):
        return wanted == sorted([str(as_object(each).get("type")).lower() for each in alternatives])
    return got.get("nullable") is True and wanted == sorted(["null", str(got.get("type")).lower()])


def _allows_null(got: Mapping[str, Any]) -> bool:
    kinds = got.get("type")
    branches = got.get("anyOf")
    listed = [as_object(each).get("type") for each in branches] if isinstance(branches, list) else []
    return "null" in [*listed, *(kinds if isinstance(kinds, list) else ())]


def _says_null(branches: Sequence[Any], got: Mapping[str, Any]) -> bool:
    """Return whether alternatives that are types alone are said as one type, or as one that may be null."""
    kinds = got.get("type")
    said = sorted(map(str, kinds)) if isinstance(kinds, list) else sorted(["null", str(kinds)])
    is_said = isinstance(kinds, list) or got.get("nullable") is True
    return is_said and [{"type": each} for each in said] == sorted(branches, key=str)
