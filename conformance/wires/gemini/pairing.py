"""Calls that wait for their results, which belong to them by id, or else by name, or else by order.

Gemini 2.5 sends calls without ids. Google's own command-line client gives them ids of its own, sends these with the
results alone, and is answered: https://github.com/google-gemini/gemini-cli/blob/004faa7cbaf02931545aafc2b361b2b0d91a792e/packages/core/src/core/turn.ts
"""

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from conformance.wire.ids import is_of_place
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
        self._without_id: dict[str, deque[str]] = {}
        self._invented: dict[str, Called] = {}
        self._answered: dict[str, Called] = {}
        self._log: list[tuple[str, Called]] = []
        self._content = 0
        self._since: dict[str, int] = {}

    def __len__(self) -> int:
        """Return how many calls do not wait any longer."""
        return len(self._log)

    def settled(self, count: int) -> Sequence[tuple[str, Called]]:
        """Return the first calls that did not wait any longer."""
        return self._log[:count]

    def go_on(self, settled: Sequence[tuple[str, Called]]) -> None:
        """Go on after calls that do not wait any longer."""
        self._log = list(settled)
        self._answered = dict(settled)

    def _answer(self, key: str, called: Called) -> None:
        self._log.append((key, called))
        self._answered[key] = called

    def clear(self) -> None:
        """Let no call wait any longer: a new turn of the model begins."""
        if not self._by_name:
            return
        for key, called in self._open.items():
            self._answer(key, called)
        for key, calls in self._more.items():
            if calls:
                self._answer(key, calls[-1])
        self._open.clear()
        self._more.clear()
        self._since.clear()
        self._in_order.clear()
        self._by_name.clear()
        self._without_id.clear()
        self._invented.clear()

    def continue_turn(self) -> None:
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
        if is_of_place(key):
            self._without_id.setdefault(word, deque()).append(key)

    def take(self, identity: Any, name: Any) -> Called | None:
        """Return the call that a result belongs to; None if there is none. It no longer waits.

        A result with an id belongs to the call with this id, which may be one of an earlier turn; if there is none, to
        the first of its name that has no id.
        """
        if identity is not None:
            key = _key(identity)
            if key in self._open:
                return self._pop(key)
            known = self._invented.get(key) or self._answered.get(key)
            return self._take_without_id(key, name) if known is None else known
        named = self._by_name.get(as_word(name))
        first = None if named is None else self._first(named)
        first = self._first(self._in_order) if first is None else first
        return None if first is None else self._pop(first)

    def _take_without_id(self, invented: str, name: Any) -> Called | None:
        keys = self._without_id.get(as_word(name))
        first = None if keys is None else self._first(keys)
        if first is None:
            return None
        self._invented[invented] = self._pop(first)
        return self._invented[invented]

    def _pop(self, key: str) -> Called:
        called = self._open.pop(key)
        self._answer(key, called)
        if more := self._more.get(key):
            self._open[key] = more.popleft()
        return called

    def _first(self, keys: deque[str]) -> str | None:
        while keys and keys[0] not in self._open:
            keys.popleft()
        return keys[0] if keys else None


def _key(identity: Any) -> str:
    return identity if type(identity) is str else rendered(identity)
