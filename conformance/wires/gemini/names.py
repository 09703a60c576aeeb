"""The two notations of names: SDKs write snake_case, the wire camelCase."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any


def of_either(holder: Mapping[str, Any], name: str) -> Any:
    """Return a member by its name in either notation: SDKs write snake_case, the wire camelCase."""
    return holder[name] if name in holder else holder.get(snake_case(name))


def camel_case(name: str) -> str:
    """Return a name in camelCase."""
    first, *others = name.split("_")
    return first + "".join([each.capitalize() for each in others])


@lru_cache(maxsize=256)
def snake_case(name: str) -> str:
    """Return a name in snake_case."""
    return "".join([f"_{letter.lower()}" if letter.isupper() else letter for letter in name])
