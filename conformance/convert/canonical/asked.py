"""Which call a result answers, where ids alone do not tell: they come again in later turns, and within one."""

from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class Asked(Generic[T]):
    """What is kept of calls by their ids, for the results that come after them."""

    __slots__ = ("_known", "_waiting")

    def __init__(self) -> None:
        self._known: dict[str, T] = {}
        self._waiting: list[tuple[str, T]] = []

    def begin(self, calls: Iterable[tuple[str, T]]) -> None:
        """Take the calls of a message; those of earlier ones wait no more."""
        self._waiting = list(calls)
        self._known |= dict(self._waiting)

    def answered(self, ident: str) -> T | None:
        """Return what is kept of the call that a result answers: the first that waits, else the last with that id."""
        for number, (waiting, kept) in enumerate(self._waiting):
            if waiting == ident:
                del self._waiting[number]
                return kept
        return self._known.get(ident)
