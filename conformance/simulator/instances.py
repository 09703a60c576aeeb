"""Values that obey a JSON Schema: the arguments of made-up tool calls, and answers in a requested format."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from conformance.documents.pointer import resolve
from conformance.schemas import argument_errors
from conformance.wire.ids import text_matching

_DEPTH: Final = 12
"""Schemas are followed this deep; below it, values are as small as possible."""

_LARGEST: Final = 64
"""The maximum number of items of a list, and of further keys of an object."""

_MOST: Final = 10_000
"""The maximum number of values within one."""

_CHARACTERS_PER_VALUE: Final = 20
"""So many characters that match a pattern count as one value more, since a short pattern can ask for millions."""

_LONGEST: Final = 4096
"""The maximum length of a text."""

_LONG_REPEAT: Final = re.compile(r"\{\d*,?\d{4,}")
_MAX_PATTERN: Final = 256
_FORMATS: Final[Mapping[str, str]] = {
    "date-time": "2026-01-01T00:00:00Z",
    "date": "2026-01-01",
    "time": "00:00:00Z",
    "duration": "PT1H",
    "email": "user@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_KINDS: Final = (
    ("properties", "object"),
    ("required", "object"),
    ("items", "array"),
    ("prefixItems", "array"),
    ("minimum", "number"),
    ("maximum", "number"),
)
"""Keywords that tell the type of a value if the schema does not name it."""


def sample(schema: Any, text: str = "Paris", *, optional: bool = False) -> Any:
    """Return a value for a schema, best effort; free strings are `text`, and optional keys are filled if wanted."""
    return _Sampler(schema, text, optional=optional).value(schema, 0)


def obeys(schema: Any, value: Any) -> bool:
    """Return True if a value obeys a schema, as far as that can be checked."""
    if schema is False:
        return False
    return schema is True or not argument_errors(schema, value)


class _Sampler:
    """One walk over a schema; `root` is what references point into."""

    def __init__(self, root: Any, text: str, *, optional: bool) -> None:
        self.root, self.text, self.optional = root, text, optional
        self.left = _MOST

    def value(self, schema: Any, depth: int, number: int = 0) -> Any:
        """Return a value for a schema; `number` tells the items of a list apart."""
        self.left -= 1
        if not isinstance(schema, dict) or self.left < 0 or depth > 2 * _DEPTH:
            return self.text
        schema = self.merged(schema, depth)
        if "const" in schema:
            return schema["const"]
        listed = schema.get("enum")
        if isinstance(listed, list) and listed:
            return listed[number % len(listed)]
        kind = _kind(schema, smallest=depth >= _DEPTH)
        simple: dict[str, Any] = {"boolean": True, "null": None}
        containers: dict[str, Callable[..., Any]] = {"object": self.object, "array": self.array}
        if kind in containers:
            return containers[kind](schema, depth)
        if kind in ("integer", "number"):
            return _number(schema, number, whole=kind == "integer")
        return simple[kind] if kind in simple else self.string(schema, number)

    def merged(self, schema: Mapping[str, Any], depth: int) -> Mapping[str, Any]:
        """Return a schema with what it refers to, and with one of its alternatives."""
        for _ in range(_DEPTH):
            found = [*self.included(schema, depth)]
            rest = {key: value for key, value in schema.items() if key not in ("$ref", "allOf", "anyOf", "oneOf")}
            if not found:
                return rest
            for each in found:
                rest = _joined(rest, each)
            schema = rest
        return {key: value for key, value in schema.items() if key not in ("$ref", "allOf", "anyOf", "oneOf")}

    def included(self, schema: Mapping[str, Any], depth: int) -> Iterator[Mapping[str, Any]]:
        """Yield the schemas that a schema refers to, consists of, or leaves the choice of."""
        candidates = [self.referenced(schema["$ref"])] if isinstance(schema.get("$ref"), str) else []
        candidates += schema["allOf"] if isinstance(schema.get("allOf"), list) else []
        for key in ("anyOf", "oneOf"):
            options = schema.get(key)
            if isinstance(options, list) and options:
                nulls = [option for option in options if isinstance(option, dict) and option.get("type") == "null"]
                # Deep inside, an alternative that is null ends a schema which refers to itself.
                candidates.append((nulls or options)[0] if depth >= _DEPTH else options[0])
        yield from (each for each in candidates if isinstance(each, dict))

    def referenced(self, reference: str) -> Any:
        """Return the schema at a reference within the root; an empty one if there is none."""
        if not reference.startswith("#"):
            return {}
        try:
            found = resolve(self.root, reference.removeprefix("#"))
        except (LookupError, ValueError):
            return {}
        return {} if found is None else found

    def object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        """Return an object with the required keys, and the optional ones if they are wanted."""
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        required = schema.get("required")
        names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        if self.optional and depth < _DEPTH:
            names += [name for name in properties if name not in names]
        further = schema.get("additionalProperties", True)
        made = {name: self.value(properties.get(name, further), depth + 1) for name in names}
        least = min(_count(schema, "minProperties"), _LARGEST)
        for number in range(len(made), least):
            made[f"key{number}"] = self.value(further, depth + 1)
        # An empty object would obey most schemas, and say nothing.
        is_free = self.optional and not depth and not made and further is not False
        return {"answer": self.value(further, depth + 1)} if is_free else made

    def array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        """Return a list of the minimum length; of one item if optional values are wanted."""
        first = schema.get("prefixItems")
        first = first[:_LARGEST] if isinstance(first, list) else []
        least = max(_count(schema, "minItems"), 1 if self.optional and depth < _DEPTH else 0)
        length = min(max(least, len(first)), _count(schema, "maxItems", _LARGEST), _LARGEST)
        items = schema.get("items", True)
        return [
            self.value(first[number] if number < len(first) else items, depth + 1, number) for number in range(length)
        ]

    def string(self, schema: Mapping[str, Any], number: int) -> str:
        """Return a text with the required pattern, format and length."""
        pattern, form = schema.get("pattern"), schema.get("format")
        if isinstance(pattern, str):
            made = _matching(pattern, number) if self.left > 0 else ""
            self.left -= len(made) // _CHARACTERS_PER_VALUE
            return made[:_LONGEST]
        text = _FORMATS.get(form, self.text) if isinstance(form, str) else self.text
        text = f"{text} {number + 1}" if number and text is self.text else text
        least, most = _count(schema, "minLength"), _count(schema, "maxLength", _LONGEST)
        return text.ljust(min(least, _LONGEST), ".")[:most]


def _joined(schema: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return two schemas as one that demands what both demand."""
    joined = {**other, **schema}
    for key in ("properties", "$defs"):
        if isinstance(schema.get(key), dict) and isinstance(other.get(key), dict):
            joined[key] = {**other[key], **schema[key]}
    if isinstance(schema.get("required"), list) and isinstance(other.get("required"), list):
        joined["required"] = [*schema["required"], *other["required"]]
    return joined


def _kind(schema: Mapping[str, Any], *, smallest: bool) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kinds = [each for each in kind if isinstance(each, str)]
        kind = "null" if smallest and "null" in kinds else next(iter(kinds), None)
    return kind if isinstance(kind, str) else next((kind for key, kind in _KINDS if key in schema), "string")


def _count(schema: Mapping[str, Any], key: str, default: int = 0) -> int:
    value = schema.get(key)
    return value if isinstance(value, int) and value >= 0 else default


def _number(schema: Mapping[str, Any], position: int, *, whole: bool) -> float:
    """Return a number between the bounds, a multiple of `multipleOf`; `position` tells the items of a list apart."""
    step = _bound(schema, "multipleOf") or 1
    value: float = 1 if whole else 1.5
    least = [_bound(schema, "minimum"), _moved(_bound(schema, "exclusiveMinimum"), step)]
    most = [_bound(schema, "maximum"), _moved(_bound(schema, "exclusiveMaximum"), -step)]
    value = max([value, *[bound for bound in least if bound is not None]]) + position * abs(step)
    value = min([value, *[bound for bound in most if bound is not None]])
    if "multipleOf" in schema:
        # Rounded up, so that it stays above the least.
        value = -(-value // abs(step)) * abs(step)
    if not -(2**63) <= value < 2**63:
        return 0
    return int(value) if whole else value


def _bound(schema: Mapping[str, Any], key: str) -> float | None:
    value = schema.get(key)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _moved(bound: float | None, step: float) -> float | None:
    return None if bound is None else bound + step


def _matching(pattern: str, number: int) -> str:
    """Return a text of any length that matches a pattern; an empty one if that is not possible at moderate cost."""
    if len(pattern) > _MAX_PATTERN or _LONG_REPEAT.search(pattern):
        return ""
    try:
        return text_matching(pattern, str(number).encode())
    except (re.error, ValueError, OverflowError, RecursionError, IndexError, KeyError):
        return ""
