"""Finds a known error text in the words of another text, in time linear in both.

A pattern is a bit-parallel automaton (Shift-And with optional positions): one integer holds how far every attempt has
come, so no text, however hostile, makes it go back.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from conformance.error_texts.words import GAP, HOLE, Words

_SPAN: Final = 4
"""How many words a number, an id or the name of a model may be: `accounts/example/models/kimi`."""

_WIDE: Final = 24
"""How many words a placeholder may stand for: a reason that a validator gives."""


class Part(NamedTuple):
    """A part of a known text: a word, or a hole of up to `span` words."""

    word: str
    span: int = 0


class TextPattern:
    """A sequence of parts, to be found in words."""

    __slots__ = ("_any", "_ends", "_masks", "_optional", "constants")

    def __init__(self, parts: Iterable[Part]) -> None:
        self.constants: tuple[str, ...] = ()
        self._masks: dict[str, int] = {}
        self._any = self._optional = 0
        at = last = 0
        constants = []
        for part in parts:
            if part.span:
                for _ in range(part.span):
                    self._any |= 1 << at
                    self._optional |= 1 << at
                    at += 1
            else:
                self._masks[part.word] = self._masks.get(part.word, 0) | 1 << at
                constants.append(part.word)
                last = at
                at += 1
        self.constants = tuple(constants)
        # What may follow the last word need not.
        self._ends = (1 << at) - (1 << last)

    def is_in(self, text: Words, starts: frozenset[int] | None = None, ends: frozenset[int] | None = None) -> bool:
        """Return whether the pattern is in a text; only where it starts and ends at some positions, if given."""
        state = 0
        for position, word in enumerate(text.words):
            begins = 1 if starts is None or position in starts else 0
            state = self._skipped(state << 1 | begins) & (self._masks.get(word, 0) | self._any)
            if state & self._ends and (ends is None or position + 1 in ends):
                return True
        return False

    def _skipped(self, reached: int) -> int:
        """Return the positions that can be next, once optional ones are passed over."""
        # As often as the widest hole is wide, which is bounded.
        while more := (reached & self._optional) << 1 & ~reached:
            reached |= more
        return reached


def parts(known: Sequence[str]) -> Iterator[Part]:
    """Yield the parts of a known text."""
    spans = {HOLE: _SPAN, GAP: _WIDE}
    for word in known:
        yield Part("" if word in spans else word, spans.get(word, 0))
