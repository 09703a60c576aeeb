"""The requests of a session that were translated: one that begins with the same messages is read from there on."""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple, Protocol

import orjson

from conformance.documents.pointer import Place
from conformance.wire.drafts import Draft
from conformance.wire.values import count_shared

LOOK_BACK: Final = 4
"""How many requests are remembered: more than sessions are played at once."""

Add = Callable[[Mapping[str, Any], Place, Any], None]


class Walk(Protocol):
    """What reads a list and knows more of it than the draft.

    `mark` returns what another walk goes on with after the same messages, and None where what was read may still
    change. `resume` goes on from the mark of an earlier walk. `marks_before`: whether a mark is about the position
    before the message that was just read, which has to be the same, too.
    """

    marks_before: bool

    def mark(self) -> Any: ...  # noqa: D102 — above
    def resume(self, earlier: Any, mark: Any, /) -> None: ...  # noqa: D102


class _Border(NamedTuple):
    """A position in a native list before which nothing changes any more, and how much had been read there.

    `same`: how many messages have to be the same. `mark`: that of the walk.
    """

    same: int
    position: int
    messages: int
    turns: int
    mark: Any


class _ReadRequest(NamedTuple):
    """A native list of messages, how it was read and into what, and its borders; `instructed`: what stood before it.

    `given`: the list itself; `listed` has the very messages of an earlier one where they are the same.
    """

    given: list[Any]
    listed: list[Any]
    walk: Walk
    draft: Draft
    instructed: _Border
    borders: list[_Border]


class ReadRequests:
    """The last requests of one conversation, as they were read."""

    def __init__(self) -> None:
        """Begin without any."""
        self._read: deque[_ReadRequest] = deque(maxlen=LOOK_BACK)

    def sharing(self, body: dict[str, Any], key: str) -> dict[str, Any]:
        """Return a body that was read last, with the very messages of an earlier one where they are the same."""
        listed = body.get(key)
        read = self._read[-1] if self._read and type(listed) is list else None
        if read is None or read.given is not listed or read.listed is listed:
            return body
        return {**body, key: read.listed}

    def into(self, draft: Draft, listed: Any, add: Add, place: Place, walk: Walk | None = None) -> None:
        """Read the messages of a list at a place into a draft; `add` reads one with the walk, or without one the draft.

        The draft holds at most the instructions. Of messages that an earlier request had, the canonical ones are the
        same objects.
        """
        if type(listed) is not list:
            return
        reader: Walk = draft if walk is None else walk
        instructed = _border(draft, 0, reader.mark())
        given = listed
        listed, start, borders, before = self._resume(draft, given, instructed, reader)
        first = len(draft.messages)
        for position in range(start, len(listed)):
            if type(listed[position]) is not dict:
                continue
            begun = _border(draft, position, None)
            add(listed[position], (*place, position), reader)
            mark = reader.mark()
            if mark is not None:
                here = begun if reader.marks_before else _border(draft, position + 1, None)
                borders.append(here._replace(same=position + 1, mark=mark))
        if before is not None:
            _share(before.messages, draft.messages, (*range(instructed.messages), *range(first, len(draft.messages))))
        self._read.append(_ReadRequest(given, listed, reader, draft, instructed, borders))

    def _resume(
        self, draft: Draft, listed: list[Any], instructed: _Border, reader: Walk
    ) -> tuple[list[Any], int, list[_Border], Draft | None]:
        """Take over what was read of the same messages.

        Return the list with the very messages of the earlier one, the position of the first that has to be read, the
        borders before it, and the draft of the earlier one.
        """
        best, most = None, 0
        holder, held = None, 0
        for read in reversed(self._read):
            common = _common(read.listed, listed)
            if common > held:
                held, holder = common, read
            if read.instructed != instructed:
                common = 0
            if common > most:
                best, most = read, common
            if common == len(read.listed):
                break
        count = 0 if best is None else bisect_right(best.borders, most, key=attrgetter("same"))
        if holder is not None and not _is_same(holder.listed, listed, held):
            listed = holder.listed[:held] + listed[held:]
        if best is None or not count:
            return listed, 0, [], None if best is None else best.draft
        border = best.borders[count - 1]
        draft.messages += best.draft.messages[instructed.messages : border.messages]
        draft.hold(best.draft, border.messages)
        draft.turns = border.turns
        reader.resume(best.walk, border.mark)
        return listed, border.position, best.borders[:count], best.draft


def _border(draft: Draft, position: int, mark: Any) -> _Border:
    return _Border(position, position, len(draft.messages), draft.turns, mark)


def _is_same(before: Sequence[Any], after: Sequence[Any], count: int) -> bool:
    """Return whether the first messages of two lists are the same objects: the first and the last one show it."""
    return all([before[at] is after[at] for at in (0, count - 1)])


def _common(before: Sequence[Any], after: Sequence[Any]) -> int:
    """Return how many messages two lists have in common at the beginning, down to the order of keys."""
    number = count_shared(before, after)
    for old, new in zip(before[number:], after[number:], strict=False):
        if not _is_alike(old, new):
            break
        number += 1
    return number


def _share(before: Sequence[Any], after: list[Any], positions: Sequence[int]) -> None:
    """Put the messages of an earlier list in the places of those that were read again and are the same."""
    for at in positions:
        # The last message of the assistant may still grow by what follows.
        is_open = at == len(after) - 1 and after[at].get("role") == "assistant"
        if at < len(before) and not is_open and _is_alike(before[at], after[at]):
            after[at] = before[at]


def _is_alike(old: Any, new: Any) -> bool:
    """Return whether two messages are rendered alike."""
    if old is new or old != new:
        return old is new
    # In Python, 1, 1.0 and True are equal, and so are objects with their keys in another order.
    try:
        return orjson.dumps(old) == orjson.dumps(new)
    except TypeError:
        return False
