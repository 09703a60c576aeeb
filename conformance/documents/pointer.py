"""JSON Pointer (RFC 6901) over plain values: rendering, resolving, and editing a copy."""

import copy
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

Place: TypeAlias = tuple[str | int, ...]
"""Where a value stands: object keys and array positions from the root."""


class _Remove:
    """Stands for "this key is not there" in an edit."""

    def __repr__(self) -> str:
        return "REMOVE"


REMOVE: Final = _Remove()


def render(place: Place) -> str:
    """Return the pointer of a place: `("messages", 2)` is `/messages/2`, the root is the empty string."""
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in place)


def parse(pointer: str) -> tuple[str, ...]:
    """Return the tokens of a pointer; raises ValueError where it does not begin with a slash."""
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        message = f"a JSON Pointer begins with '/': {pointer!r}"
        raise ValueError(message)
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


def resolve(value: Any, pointer: str) -> Any:
    """Return what the pointer leads to; raises LookupError where it leads nowhere."""
    for token in parse(pointer):
        value = _step(value, token)
    return value


def edit(value: Any, changes: Mapping[str, Any]) -> Any:
    """Return a deep copy of a value with each pointer of `changes` set to its new value.

    `REMOVE` deletes, `-` as the last token appends to an array, the other tokens must lead somewhere:
    an edit that would silently change nothing raises LookupError.
    """
    result = copy.deepcopy(value)
    for pointer, new in changes.items():
        *parents, last = parse(pointer)
        holder = result
        for token in parents:
            holder = _step(holder, token)
        _put(holder, last, new)
    return result


def _step(value: Any, token: str) -> Any:
    if isinstance(value, list):
        return value[_position(token)]
    if isinstance(value, Mapping):
        return value[token]
    message = f"nothing lies below a {type(value).__name__} at {token!r}"
    raise LookupError(message)


def _put(holder: Any, last: str, new: Any) -> None:
    if isinstance(holder, list):
        _put_item(holder, last, new)
    elif not isinstance(holder, dict):
        message = f"nothing can be put below a {type(holder).__name__} at {last!r}"
        raise LookupError(message)
    elif new is REMOVE:
        del holder[last]
    else:
        holder[last] = copy.deepcopy(new)


def _put_item(holder: list[Any], last: str, new: Any) -> None:
    if last == "-":
        holder.append(copy.deepcopy(new))
    elif new is REMOVE:
        del holder[_position(last)]
    else:
        holder[_position(last)] = copy.deepcopy(new)


def _position(token: str) -> int:
    if not token.isdecimal():
        message = f"{token!r} is not a position in an array"
        raise LookupError(message)
    return int(token)
