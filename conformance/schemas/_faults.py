"""What an engine finds wrong, and the words for it: "expected …, got …"."""

import reprlib
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import orjson

from conformance.documents.pointer import Place

SHOWN: Final = 60
"""How many characters of a value a message shows."""

_KINDS: Final = {
    "string": "a string",
    "object": "an object",
    "array": "an array",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_COUNTED: Final = {
    "minItems": "at least {} item{}",
    "maxItems": "at most {} item{}",
    "minLength": "at least {} character{}",
    "maxLength": "at most {} character{}",
    "minProperties": "at least {} key{}",
    "maxProperties": "at most {} key{}",
}
_BOUNDED: Final = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "pattern": "text that matches {}",
    "uniqueItems": "items that all differ",
    "falseSchema": "nothing here",
}
_KEYED: Final = {"additionalProperties": "no further keys", "propertyNames": "keys of another form"}


class SchemaError(NamedTuple):
    """One fault: its place in the instance, the keyword, "expected …, got …", and the keys that should not be."""

    place: Place
    keyword: str
    message: str
    extra: tuple[str, ...] = ()


class Fault(NamedTuple):
    """What an engine found; `demand` is the keyword's value, or the missing key, or the keys that should not be."""

    place: Place
    keyword: str
    demand: Any
    value: Any


def at(root: Any, place: Place) -> Any:
    """Return the value at a place that an engine named."""
    for token in place:
        root = root[token]
    return root


def worded(faults: Iterable[Fault]) -> tuple[SchemaError, ...]:
    """Return the faults in words, each once, ordered by place."""
    return tuple(sorted({word(fault) for fault in faults}, key=_order))


def word(fault: Fault) -> SchemaError:
    """Return one fault in words."""
    place, keyword, demand, value = fault
    if keyword in _KEYED:
        return SchemaError(place, keyword, f"expected {_KEYED[keyword]}, got {_listed(demand)}", tuple(demand))
    if keyword == "required":
        got = f"only {_listed(value)}" if value else "no keys"
        return SchemaError(place, keyword, f"expected the key {_shown(demand)}, got {got}")
    return SchemaError(place, keyword, f"expected {_expected(keyword, demand)}, got {_shown(value)}")


def _order(error: SchemaError) -> tuple[Any, ...]:
    # Positions come before keys, since the two cannot be compared with each other.
    return [(isinstance(token, str), token) for token in error.place], error.keyword, error.message


def _expected(keyword: str, demand: Any) -> str:
    if keyword == "type":
        kinds = {demand} if isinstance(demand, str) else set(demand)
        return _either([words for kind, words in _KINDS.items() if kind in kinds])
    if keyword == "enum":
        return _either([_shown(option) for option in demand])
    if keyword == "const":
        return _shown(demand)
    if keyword in _COUNTED:
        return _COUNTED[keyword].format(demand, "" if demand == 1 else "s")
    if keyword in _BOUNDED:
        return _BOUNDED[keyword].format(demand)
    return f"what the schema demands by {keyword}"


def _either(choices: list[str]) -> str:
    *first, last = choices
    return f"{', '.join(first)} or {last}" if first else last


def _listed(keys: Iterable[str]) -> str:
    return _cut(", ".join(_shown(key) for key in keys))


def _shown(value: Any) -> str:
    if isinstance(value, str):
        # A text of megabytes is not escaped in full only to be cut.
        value = value[:SHOWN]
    try:
        return _cut(orjson.dumps(value).decode())
    except TypeError:
        return _cut(reprlib.repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
