"""Calls that a log spreads over several records, joined by what the records share."""

from collections.abc import Iterator
from typing import Final

from conformance.documents import BOUNDS
from conformance.formats import rebuilt
from conformance.formats.inputs import Input

KIND: Final = "events"
"""The kind of an input that may be a part of a call; if so, its session names the call."""

_MAX_OPEN: Final = 1000
"""How many calls are held at once."""
_CUT: Final = f"records of more than {_MAX_OPEN} calls are mixed here, so this one may be incomplete"


def is_part(found: Input) -> bool:
    """Return whether an input may be a part of a call, of which others follow."""
    return found.kind == KIND and bool(found.session)


class CallJoiner:
    """Joins the parts of calls; those of concurrent calls may come in any order."""

    def __init__(self) -> None:
        self._open: dict[str, list[Input]] = {}
        self._replied: dict[str, None] = {}
        self._sizes: dict[str, int] = {}
        self._size = 0

    def add(self, part: Input, size: int = 0) -> Iterator[Input]:
        """Add a part of so many bytes, and yield the calls that are complete: another one goes on after their reply."""
        call = part.session
        for ended in [each for each in self._replied if each != call]:
            yield self._close(ended)
        self._open.setdefault(call, []).append(part)
        self._sizes[call] = self._sizes.get(call, 0) + size
        self._size += size
        if part.conversation[0].response is not None:
            self._replied[call] = None
        while len(self._open) > _MAX_OPEN or (self._size > BOUNDS.bytes and self._open):
            oldest = self._close(next(iter(self._open)))
            yield oldest._replace(notes=(*oldest.notes, _CUT))

    def close(self) -> Iterator[Input]:
        """Yield the calls that are left."""
        for call in list(self._open):
            yield self._close(call)

    def _close(self, call: str) -> Input:
        found = self._open.pop(call)
        self._size -= self._sizes.pop(call)
        self._replied.pop(call, None)
        exchanges = [exchange for part in found for exchange in part.conversation]
        messages = [message for each in exchanges for message in each.request["messages"]]
        replies = [choice["message"] for each in exchanges if each.response for choice in each.response["choices"]]
        date = next((each.date for each in exchanges if each.date), "")
        return found[0]._replace(conversation=(rebuilt.exchange(messages, replies, "", date=date),), session="")
