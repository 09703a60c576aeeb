"""The text of a cited file: where in it a quote stands, and where some words stand close together."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from conformance import linear
from conformance.evidence.cited.pages import fragments, letters

WINDOW: Final = 60
"""Lines within which a model and the words of a value have to stand, if a source cites no lines."""

SLACK: Final = 3
"""Lines by which a quote may miss the lines that are cited."""

_MAX_GAP: Final = 4000
"""Letters that an ellipsis may stand for."""

_LONG: Final = 400
_PIECE: Final = re.compile(r".{1,160}(?:[\s,{}\[\]]|$)|.{160}")
_JOINED: Final = re.compile(r"[_\u2010\u2011-]|(?<=\d)\.(?=\d)")
_HYPHEN: Final = re.compile(r"[_-]")
_BEFORE_NUMBER: Final = re.compile(r"(?<=[a-z])(?=v?\d)")
_LEFT, _RIGHT = "(?<![a-z0-9])", "(?![a-z0-9])"


@dataclass(frozen=True, slots=True)
class CitedText:
    """A text by lines; long lines, such as those of data files, are cut into pieces with the same number."""

    lines: tuple[str, ...]
    numbers: tuple[int, ...]
    _letters: str = field(repr=False, compare=False, default="")
    _starts: tuple[int, ...] = field(repr=False, compare=False, default=())
    _plain_lines: tuple[str, ...] = field(repr=False, compare=False, default=())

    @classmethod
    def of(cls, text: str) -> "CitedText":
        """Return the text with what the searches need."""
        pieces = list(_pieces(text))
        lines = tuple([piece for _, piece in pieces])
        starts, joined, size = [], [], 0
        for line in lines:
            starts.append(size)
            joined.append(letters(line))
            size += len(joined[-1])
        numbers = tuple([number for number, _ in pieces])
        return cls(lines, numbers, "".join(joined), tuple(starts), tuple(map(_plain, lines)))

    @property
    def last(self) -> int:
        """Return the number of lines."""
        return self.numbers[-1] if self.numbers else 0

    def find(self, quote: str) -> Iterator[int]:
        """Yield the line at which each occurrence of a quote begins."""
        parts = [part for each in fragments(quote) if (part := letters(each))]
        at = self._letters.find(parts[0]) if parts else -1
        while at >= 0:
            if self._continues(parts, at):
                yield self.numbers[bisect_right(self._starts, at) - 1]
            at = self._letters.find(parts[0], at + 1)

    def near(self, words: Iterable[str], ranges: Sequence[tuple[int, int]] = ()) -> int:
        """Return the first line of a place that holds all words; 0 if there is none.

        The place is one of the ranges of lines, else some `WINDOW` lines. An underscore, a hyphen, the dot of a version
        and case do not count, because names are written in different ways. A word may begin or end with a star.
        """
        patterns = [_pattern(word) for word in dict.fromkeys(words)]
        if not patterns:
            return 0
        held = [
            (self.numbers[at], number)
            for at, line in enumerate(self._plain_lines)
            for number, pattern in enumerate(patterns)
            if pattern.search(line)
        ]
        if ranges:
            for first, last in ranges:
                inside = [each for each in held if first - SLACK <= each[0] <= last + SLACK]
                if len({number for _, number in inside}) == len(patterns):
                    return inside[0][0]
            found = {number for at, number in held if any(a - SLACK <= at <= b + SLACK for a, b in ranges)}
            return ranges[0][0] if len(found) == len(patterns) else 0
        return self._window(held, len(patterns))

    def fits(self, pattern: str, ranges: Sequence[tuple[int, int]] = ()) -> int:
        """Return the first line, of some ranges if there are any, in which a pattern occurs; 0 if there is none."""
        return next(
            (
                number
                for number, line in zip(self.numbers, self.lines, strict=True)
                if not ranges or any(first - SLACK <= number <= last + SLACK for first, last in ranges)
                if linear.occurs(pattern, line)
            ),
            0,
        )

    def _window(self, held: Sequence[tuple[int, int]], wanted: int) -> int:
        last: dict[int, int] = {}
        for at, number in held:
            last[number] = at
            if len(last) == wanted and at - min(last.values()) <= WINDOW:
                return min(last.values())
        return 0

    def _continues(self, parts: Sequence[str], at: int) -> bool:
        start, end = at, at + len(parts[0])
        for part in parts[1:]:
            found = self._letters.find(part, end, start + _MAX_GAP)
            if found < 0:
                return False
            end = found + len(part)
        return True


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) <= _LONG:
            yield number, line
        else:
            yield from ((number, found[0]) for found in _PIECE.finditer(line))


def _pattern(word: str) -> re.Pattern[str]:
    """Return the pattern of a word; it has an edge where it has no star."""
    left, right = "" if word.startswith("*") else _LEFT, "" if word.endswith("*") else _RIGHT
    # "Opus 4.5" is claude-opus-4-5 in prose, and "DeepSeek R1" deepseek-r1.
    parts = [_BEFORE_NUMBER.sub(" ?", re.escape(_plain(part))) for part in _HYPHEN.split(word.strip("*"))]
    return re.compile(left + " ?".join(parts) + right)


def _plain(text: str) -> str:
    return _JOINED.sub("", text.lower())
