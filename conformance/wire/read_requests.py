"""The requests of a session that were translated: one that begins with the same messages is read from there on."""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, Final, NamedTuple

import orjson

from conformance.documents.pointer import Place
from conformance.wire.drafts import Draft

LOOK_BACK: Final = 4
"""How many requests are remembered: more than sessions are played at once."""

Add = Callable[[Mapping[str, Any], Place, Draft], None]


class _Border(NamedTuple):
    """A position in a native list before which nothing changes any more, and how much had been read there."""

    position: int
    messages: int
    places: int
    turns: int


class _ReadRequest(NamedTuple):
    """A native list of messages, what it was read into, and its borders; `instructed`: what stood before it."""

    listed: list[Any]
    draft: Draft
    instructed: _Border
    borders: list[_Border]


class ReadRequests:
    """The last requests of one conversation, as they were read."""

    def __init__(self) -> None:
        """Begin without any."""
        self._read: deque[_ReadRequest] = deque(maxlen=LOOK_BACK)

    def into(self, draft: Draft, listed: Any, add: Add, place: Place) -> None:
        """Read the messages of a list at a place into a draft; `add` reads one.

        The draft holds at most the instructions. Of messages that an earlier request had, the canonical ones are the
        same objects.
        """
        if type(listed) is not list:
            return
        instructed = _border(draft, 0)
        start, borders = self._resume(draft, listed, instructed)
        for position in range(start, len(listed)):
            if type(listed[position]) is dict:
                add(listed[position], (*place, position), draft)
            # Neighbouring messages of the assistant become one, so what is read of the last one may still change.
            if not draft.messages or draft.messages[-1].get("role") != "assistant":
                borders.append(_border(draft, position + 1))
        self._read.append(_ReadRequest(listed, draft, instructed, borders))

    def _resume(self, draft: Draft, listed: list[Any], instructed: _Border) -> tuple[int, list[_Border]]:
        """Take over what was read of the same messages; return the position of the first other one, and the borders."""
        best, most = None, 0
        for read in reversed(self._read):
            common = _common(read.listed, listed) if read.instructed == instructed else 0
            if common > most:
                best, most = read, common
            if common == len(read.listed):
                break
        count = 0 if best is None else bisect_right(best.borders, most, key=attrgetter("position"))
        if best is None or not count:
            return 0, []
        border = best.borders[count - 1]
        draft.messages += best.draft.messages[instructed.messages : border.messages]
        draft.places.update(islice(best.draft.places.items(), instructed.places, border.places))
        draft.turns = border.turns
        return border.position, best.borders[:count]


def _border(draft: Draft, position: int) -> _Border:
    return _Border(position, len(draft.messages), len(draft.places), draft.turns)


def _common(before: Sequence[Any], after: Sequence[Any]) -> int:
    """Return how many messages two lists have in common at the beginning, down to the order of keys."""
    number = 0
    for old, new in zip(before, after, strict=False):
        if old is not new and not (old == new and _is_rendered_alike(old, new)):
            break
        number += 1
    return number


def _is_rendered_alike(old: Any, new: Any) -> bool:
    # In Python, 1, 1.0 and True are equal, and so are objects with their keys in another order.
    try:
        return orjson.dumps(old) == orjson.dumps(new)
    except TypeError:
        return False
