"""Calls that wait for their results, which belong to them by id, or else by name, or else by order."""

from collections import deque
from typing import Any, NamedTuple

from conformance.wire.values import as_word, rendered


class Called(NamedTuple):
    """A call: its id and the name of its function."""

    identity: Any
    name: Any


class Waiting:
    """The calls of one turn of the model that have no result yet; each step costs the same, however many there are."""

    def __init__(self) -> None:
        self._open: dict[str, Called] = {}
        self._more: dict[str, deque[Called]] = {}
        self._in_order: deque[str] = deque()
        self._by_name: dict[str, deque[str]] = {}
        self._answered: dict[str, Called] = {}
        self._content = 0
        self._since: dict[str, int] = {}

    def clear(self) -> None:
        """Let no call wait any longer: a new turn of the model begins."""
        if not self._by_name:
            return
        self._answered |= self._open
        self._answered |= {key: calls[-1] for key, calls in self._more.items() if calls}
        self._open.clear()
        self._more.clear()
        self._since.clear()
        self._in_order.clear()
        self._by_name.clear()

    def go_on(self) -> None:
        """Let the turn go on in another content: a call with an id that waits already takes its place."""
        self._content += 1

    def add(self, identity: Any, name: Any) -> None:
        """Add a call."""
        key = _key(identity)
        if self._since.setdefault(key, self._content) != self._content:
            self._since[key] = self._content
            self._open.pop(key, None)
            self._more.pop(key, None)
        called = Called(identity, name)
        if self._open.setdefault(key, called) is not called:
            # The id came before in this turn: results with it are those of its calls in their order.
            self._more.setdefault(key, deque()).append(called)
        self._in_order.append(key)
        word = as_word(name)
        if word not in self._by_name:
            self._by_name[word] = deque()
        self._by_name[word].append(key)

    def take(self, identity: Any, name: Any) -> Called | None:
        """Return the call that a result belongs to; None if there is none. It no longer waits.

        A result with an id belongs to no other call, whether there is one or not; it may be one of an earlier turn.
        """
        if identity is not None:
            key = _key(identity)
            return self._pop(key) if key in self._open else self._answered.get(key)
        named = self._by_name.get(as_word(name))
        first = None if named is None else self._first(named)
        first = self._first(self._in_order) if first is None else first
        return None if first is None else self._pop(first)

    def _pop(self, key: str) -> Called:
        called = self._answered[key] = self._open.pop(key)
        if more := self._more.get(key):
            self._open[key] = more.popleft()
        return called

    def _first(self, keys: deque[str]) -> str | None:
        while keys and keys[0] not in self._open:
            keys.popleft()
        return keys[0] if keys else None


def _key(identity: Any) -> str:
    return identity if type(identity) is str else rendered(identity)
