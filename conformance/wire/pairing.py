"""Which call a tool result answers, although ids may repeat in later turns and within one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class PendingCalls(Generic[T]):
    """What is known about calls, by their ids, for the results that follow them."""

    __slots__ = ("_known", "_pending")

    def __init__(self) -> None:
        self._known: dict[str, T] = {}
        self._pending: list[tuple[str, T]] = []

    def start(self, calls: Iterable[tuple[str, T]]) -> None:
        """Take the calls of a message; those of earlier messages are no longer pending."""
        self._pending = list(calls)
        self._known |= dict(self._pending)

    def answer(self, ident: str) -> T | None:
        """Return what is known about the call of a result: the first pending one with the id, else the last one."""
        for number, (pending, known) in enumerate(self._pending):
            if pending == ident:
                del self._pending[number]
                return known
        return self._known.get(ident)


def paired_results(transcript: Sequence[Mapping[str, Any]], position: int) -> dict[int, int]:
    """Return the position of the tool message for each call, by its number, of the assistant message at a position.

    Calls that share an id are answered in their order. Only tool messages that follow directly count.
    """
    pending = [call["id"] for call in transcript[position].get("tool_calls") or ()]
    paired: dict[int, int] = {}
    for at in range(position + 1, len(transcript)):
        if transcript[at]["role"] != "tool":
            break
        ident = transcript[at]["tool_call_id"]
        free = [number for number, known in enumerate(pending) if known == ident and number not in paired]
        if free:
            paired[free[0]] = at
    return paired
