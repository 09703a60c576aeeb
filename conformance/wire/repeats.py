"""Texts that a stream delivers in fragments, and fragments that repeat what was delivered before."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place

ARGUMENTS: Final = "arguments"

_DISTINCT: Final = 3
"""A text with more different letters and digits is not a few signs over and over."""

_MARGIN: Final = 4
"""How much shorter a repeated text may be: white space at its ends is often stripped."""


class Fragments(NamedTuple):
    """A text of a stream in the fragments in which it comes; `name` says what it is: content, reasoning, arguments."""

    name: str
    texts: Sequence[str]


class StreamedText(NamedTuple):
    """A text of a stream, and the stream's events, chunks or values, in which its fragments are.

    `place`: that of the stream.
    """

    place: Place
    name: str
    fragments: Sequence[str]
    events: Sequence[Any]

    def place_of(self, position: int) -> Place:
        """Return the place of a fragment, by its position."""
        text, before = self.fragments[position], self.fragments[:position].count(self.fragments[position])
        for number, event in enumerate(self.events):
            found = _place_of(event, text)
            if found is not None and before == 0:
                return (*self.place, number, *found)
            before -= found is not None
        return self.place


class Repeat(NamedTuple):
    """A fragment that repeats all text before it; `is_whole`: it is the last one, and has nothing else."""

    position: int
    is_whole: bool


def find_repeat(name: str, fragments: Sequence[str]) -> Repeat | None:
    """Return the first fragment that repeats all text before it; None if there is none.

    Short texts occur again by chance: two line breaks, the same word twice. So the repeated text has to be several
    words, or several fragments that come again as one, or the beginning of a row of ever longer ones.
    """
    longest = max(map(len, fragments), default=0)
    total, growing, previous, first = 0, 0, "", 0
    for position, text in enumerate(fragments):
        if total > longest + _MARGIN:
            # Nothing that follows is long enough, and most texts end this loop after a few words.
            return None
        if text and total:
            if len(text) + _MARGIN >= total and _repeats(name, text, fragments[:position]):
                if next(filter(None, fragments[position + 1 :]), "") == text:
                    # One word over and over: what holds all text so far gets longer.
                    return None
                return _repeat(fragments, position)
            growing = growing + 1 if growing >= 0 and _grows(previous, text) else -1
            first = position if growing == 1 else first
            if growing > 1 and _is_varied(text):
                return Repeat(first, is_whole=False)
        total += len(text)
        previous = text or previous
    return None


def _grows(previous: str, text: str) -> bool:
    return len(text) > len(previous) and text.startswith(previous)


def _repeats(name: str, text: str, before: Sequence[str]) -> bool:
    """Return whether a fragment begins with all that came before, and does not do so by chance."""
    joined = "".join(before).strip()
    if not text.lstrip().startswith(joined):
        return False
    if name == ARGUMENTS:
        # No JSON text of an object can begin with its own beginning twice.
        return joined.startswith("{")
    is_of_several = sum(map(bool, before)) > 1 or len(joined.split()) > 1
    return is_of_several and _is_varied(joined)


def _repeat(fragments: Sequence[str], position: int) -> Repeat:
    is_last = not any(fragments[position + 1 :])
    return Repeat(position, is_last and fragments[position].strip() == "".join(fragments[:position]).strip())


def _is_varied(text: str) -> bool:
    return len({sign for sign in text if sign.isalnum()}) > _DISTINCT


def _place_of(event: Any, text: str) -> Place | None:
    """Return the place of a text in an event; None if it is not there."""
    # A stack, so that no event is too deep for it; reversed, so that the first member comes first.
    waiting: list[tuple[Place, Any]] = [((), event)]
    while waiting:
        place, value = waiting.pop()
        if type(value) is str and value == text:
            return place
        members = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
        waiting += [((*place, key), member) for key, member in reversed(list(members))]
    return None
