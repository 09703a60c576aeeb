"""JSON values of any shape, as code wants them that must not fail on what a peer sends."""

import json
from collections.abc import Iterator, Mapping, Sequence
from operator import is_
from typing import Any

import orjson


def objects(value: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the objects in a list, each with its position; nothing if it is not a list."""
    for position, item in enumerate(value if type(value) is list else ()):
        if type(item) is dict:
            yield position, item


def as_object(value: Any) -> Mapping[str, Any]:
    """Return a value if it is an object, else an empty one."""
    return value if type(value) is dict else {}


def as_word(value: Any) -> str:
    """Return a value if it is a string, else the empty string, so that it can be looked up."""
    return value if type(value) is str else ""


def is_error_list(value: Any) -> bool:
    """Return whether a value is a list of one object that only reports an error: so Google sends the body of one."""
    return type(value) is list and len(value) == 1 and type(value[0]) is dict and value[0].keys() == {"error"}


def rendered(value: Any, *, sort: bool = False) -> str:
    """Return a value as compact JSON, whatever it holds: big integers and lone surrogates, too.

    `sort`: with the keys of objects in order.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort else None).decode()
    except TypeError:
        return json.dumps(value, separators=(",", ":"), sort_keys=sort)


def total(*counts: Any) -> int:
    """Return the sum of those counts that are whole numbers."""
    return sum([count for count in counts if type(count) is int])


def count_shared(before: Sequence[Any], after: Sequence[Any]) -> int:
    """Return how many values two lists have in common at the beginning, as the same objects."""
    # All at once, because the lists of a long session have thousands of values, most of them shared.
    same = list(map(is_, before, after)) if before and after and before[0] is after[0] else []
    return len(same) if all(same) else same.index(False)
