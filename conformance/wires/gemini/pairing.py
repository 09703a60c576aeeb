"""Calls that wait for their results, which belong to them by id, or else by name, or else by order."""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from conformance.wires.drafts import as_word, rendered


class Waiting:
    """The calls of one turn of the model that have no result yet; each step costs the same, however many there are."""

    def __init__(self) -> None:
        self._open: dict[str, Any] = {}
        self._in_order: deque[str] = deque()
        self._by_name: dict[str, deque[str]] = {}

    def clear(self) -> None:
        """Forget all calls: a new turn of the model begins."""
        self._open.clear()
        self._in_order.clear()
        self._by_name.clear()

    def add(self, calls: Iterable[Mapping[str, Any]]) -> None:
        """Add calls in the form of chat completions."""
        for call in calls:
            key = _key(call["id"])
            self._open[key] = call["id"]
            self._in_order.append(key)
            self._by_name.setdefault(as_word(call["function"]["name"]), deque()).append(key)

    def take(self, identity: Any, name: Any) -> Any:
        """Return the id of the call that a result belongs to; None if it has no id, and no call is left.

        That call no longer waits. A result with an id belongs to no other call, whether there is one or not.
        """
        if identity is not None:
            self._open.pop(_key(identity), None)
            return identity
        key = self._first(self._by_name.get(as_word(name), deque()))
        key = self._first(self._in_order) if key is None else key
        return None if key is None else self._open.pop(key)

    def _first(self, keys: deque[str]) -> str | None:
        while keys and keys[0] not in self._open:
            keys.popleft()
        return keys[0] if keys else None


def _key(identity: Any) -> str:
    return identity if type(identity) is str else rendered(identity)
