"""JSON Pointer (RFC 6901) over plain values: rendering, resolving, and editing a copy."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, TypeAlias

Place: TypeAlias = tuple[str | int, ...]
"""The location of a value: object keys and array positions from the root."""


class _Remove:
    """Marks a key to delete in an edit."""

    def __repr__(self) -> str:
        return "REMOVE"


REMOVE: Final = _Remove()
_LONGEST_KEPT: Final = 256


def render(place: Sequence[str | int]) -> str:
    """Return the pointer of a place: `("messages", 2)` is `/messages/2`, the root is the empty string."""
    text = "".join([f"/{token}" for token in place])
    if "~" not in text and text.count("/") == len(place):
        return text
    return "".join([f"/{escape(str(token))}" for token in place])


def escape(key: str) -> str:
    """Return a key as one token of a pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def ancestry(pointer: str) -> Iterator[str]:
    """Yield a pointer, then the pointers of the values that contain it, up to the root."""
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]
    yield ""


def parse(pointer: str) -> tuple[str, ...]:
    """Return the tokens of a pointer; raises ValueError if it does not begin with a slash."""
    # A peer chooses the keys in a pointer, and may send megabytes.
    return _tokens(pointer) if len(pointer) > _LONGEST_KEPT else _kept(pointer)


@lru_cache(maxsize=1024)
def _kept(pointer: str) -> tuple[str, ...]:
    return _tokens(pointer)


def _tokens(pointer: str) -> tuple[str, ...]:
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        message = f"expected a JSON Pointer that begins with '/', got {pointer!r}"
        raise ValueError(message)
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


def place_of(tokens: Iterable[str]) -> Place:
    """Return the place that the tokens of a pointer name, each of digits as a position in an array."""
    return tuple([int(token) if token.isdecimal() else token for token in tokens])


def resolve(value: Any, pointer: str) -> Any:
    """Return the value at a pointer; raises LookupError if there is none."""
    for token in parse(pointer):
        value = _step(value, token)
    return value


def copied(value: Any) -> Any:
    """Return a deep copy of a value; `copy.deepcopy`, which keeps track of what is shared, takes six times as long."""
    if isinstance(value, dict):
        return {key: copied(each) for key, each in value.items()}
    if isinstance(value, list):
        return [copied(each) for each in value]
    return value


def edit(value: Any, changes: Mapping[str, Any]) -> Any:
    """Return a deep copy of a value with each pointer of `changes` set to its new value.

    `REMOVE` deletes, and `-` as the last token appends to an array. All other tokens must exist: an edit that would
    silently change nothing raises LookupError.
    """
    result = copied(value)
    for pointer, new in changes.items():
        *parents, last = parse(pointer)
        holder = result
        for token in parents:
            holder = _step(holder, token)
        _put(holder, last, new)
    return result


def differences(value: Any, changes: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield what an edit removes from a value (`-`) and what it adds (`+`), each with its pointer."""
    for pointer, new in changes.items():
        # The value has nothing here if the edit adds it.
        with suppress(LookupError):
            yield "-", pointer, resolve(value, pointer)
        if new is not REMOVE:
            yield "+", pointer, new


def _step(value: Any, token: str) -> Any:
    if isinstance(value, list):
        return value[_position(token)]
    if isinstance(value, Mapping):
        return value[token]
    message = f"cannot look up {token!r} in a {type(value).__name__}"
    raise LookupError(message)


def _put(holder: Any, last: str, new: Any) -> None:
    if isinstance(holder, list):
        _put_item(holder, last, new)
    elif not isinstance(holder, dict):
        message = f"cannot set {last!r} in a {type(holder).__name__}"
        raise LookupError(message)
    elif new is REMOVE:
        del holder[last]
    else:
        holder[last] = copied(new)


def _put_item(holder: list[Any], last: str, new: Any) -> None:
    if last == "-":
        holder.append(copied(new))
    elif new is REMOVE:
        del holder[_position(last)]
    else:
        holder[_position(last)] = copied(new)


def _position(token: str) -> int:
    if not token.isdecimal():
        message = f"expected a position in an array, got {token!r}"
        raise LookupError(message)
    return int(token)


def value_at(value: Any, place: Iterable[str | int], default: Any = None) -> Any:
    """Return what stands at a place of a value, or the default if there is nothing."""
    for token in place:
        try:
            value = value[token]
        except (LookupError, TypeError):
            return default
    return value
