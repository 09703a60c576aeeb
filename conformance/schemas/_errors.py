"""Schema errors: what is wrong with a value, as data and in words ("expected …, got …")."""

import reprlib
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final, NamedTuple

import orjson

from conformance.documents.pointer import Place

MAX_SHOWN: Final = 60
"""How many characters of a value a message shows."""

_TYPES: Final[dict[type, str]] = {
    str: "string",
    dict: "object",
    list: "array",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
_TYPE_WORDS: Final = {
    "string": "a string",
    "object": "an object",
    "array": "an array",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_COUNTS: Final = {
    "minItems": "at least {} item{}",
    "maxItems": "at most {} item{}",
    "minLength": "at least {} character{}",
    "maxLength": "at most {} character{}",
    "minProperties": "at least {} key{}",
    "maxProperties": "at most {} key{}",
}
_LIMITS: Final = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "pattern": "text that matches {}",
    "uniqueItems": "distinct items",
    "falseSchema": "no value",
}
_OF_KEYS: Final = {"additionalProperties": "no further keys", "propertyNames": "keys of another form"}


class SchemaError(NamedTuple):
    """One way in which a value breaks a schema.

    `place`: where in the value. `keyword`: the keyword of the schema that fails. `extra`: the keys that are not
    allowed. `missing`: the key that is required. `got`: the JSON type of the value at the place.
    """

    place: Place
    keyword: str
    message: str
    extra: tuple[str, ...] = ()
    missing: str = ""
    got: str = ""


class SchemaViolation(NamedTuple):
    """What a validator found. `expected` is the keyword's value, the missing key, or the keys that are not allowed."""

    place: Place
    keyword: str
    expected: Any
    value: Any


def value_at(root: Any, place: Place) -> Any:
    """Return the value at a place that a validator named."""
    for token in place:
        root = root[token]
    return root


def errors(violations: Iterable[SchemaViolation]) -> tuple[SchemaError, ...]:
    """Return the violations as errors, each once, ordered by place."""
    return tuple(sorted({error(violation) for violation in violations}, key=_order))


def error(violation: SchemaViolation) -> SchemaError:
    """Return one violation as an error."""
    place, keyword, expected, value = violation
    got = _TYPES.get(type(value), "")
    if keyword in _OF_KEYS:
        message = f"expected {_OF_KEYS[keyword]}, got {_listed(expected)}"
        return SchemaError(place, keyword, message, extra=tuple(expected), got=got)
    if keyword == "required":
        message = f"expected the key {_shown(expected)}, got {f'only {_listed(value)}' if value else 'no keys'}"
        return SchemaError(place, keyword, message, missing=expected, got=got)
    return SchemaError(place, keyword, f"expected {_words(keyword, expected)}, got {_shown(value)}", got=got)


def _order(error: SchemaError) -> tuple[Any, ...]:
    # Positions come before keys, since the two cannot be compared with each other.
    return [(isinstance(token, str), token) for token in error.place], error.keyword, error.message


def _words(keyword: str, expected: Any) -> str:
    if keyword == "type":
        kinds = {expected} if isinstance(expected, str) else set(expected)
        return _either([words for kind, words in _TYPE_WORDS.items() if kind in kinds])
    if keyword == "enum":
        return _either([_shown(option) for option in expected])
    if keyword == "const":
        return _shown(expected)
    if keyword in _COUNTS:
        return _COUNTS[keyword].format(expected, "" if expected == 1 else "s")
    if keyword in _LIMITS:
        return _LIMITS[keyword].format(expected)
    return f"a value that satisfies {keyword}"


def _either(choices: list[str]) -> str:
    *first, last = choices
    return f"{', '.join(first)} or {last}" if first else last


def _listed(keys: Iterable[str]) -> str:
    # The first keys fill the text; an object may have a million.
    return _cut(", ".join([_shown(key) for key in islice(keys, MAX_SHOWN)]))


def _shown(value: Any) -> str:
    if isinstance(value, str):
        # A text of megabytes is not escaped in full only to be cut.
        value = value[:MAX_SHOWN]
    try:
        return _cut(orjson.dumps(value).decode())
    except TypeError:
        return _cut(reprlib.repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
