"""The index of known error texts: finds those that are in a text, and those that a cut text is part of."""

import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from conformance.error_texts.causes import generic
from conformance.error_texts.patterns import TextPattern, parts
from conformance.error_texts.sayings import Saying, sayings
from conformance.error_texts.words import GAP, HOLE, Words, is_constant, words

_BRACES: Final = re.compile(r"\{[^{}]*\}|%[a-zA-Z]")
_QUOTED: Final = re.compile(r"(?<![\w])(['\"`])([^'\"`\s]{1,60})\1(?!\w)")
_LONG_WORDS: Final = 5
_LONG: Final = 16.0
"""From this much evidence on, a known text may stand anywhere in another; a shorter one has to be a whole message."""
_PART_WORDS: Final = 4
_MANY_WORDS: Final = 6
_FIRST: Final = frozenset({0, 1})
_PART: Final = 11.0
"""The evidence that a cut text has to hold; what fewer words say, several causes say."""
_MOST_PARTS: Final = 12
"""How many parts between ellipses are tried, and how many beginnings of a cut message in each: the last ones."""
_LONGEST: Final = 200
"""How many words a part of a known text may have: the longest known texts have about a hundred."""
_CLOSE: Final = 0.85
"""What says at least this share of what the best match says may be meant as well."""
_STATUS_WORDS: Final = frozenset({"error", "code", "http", "status", "message", "type", "api"})


class _Known(NamedTuple):
    """A known text: its words, its pattern, how much it says, and who says it."""

    words: Words
    pattern: TextPattern
    evidence: float
    sayings: tuple[Saying, ...]


class Match(NamedTuple):
    """A known text that was found.

    `evidence` is how much it says in bits. `is_part`: only a part of it was found. `holes`: how much of it may differ.
    """

    saying: Saying
    evidence: float
    is_part: bool = False
    holes: int = 0


class TextIndex:
    """Known error texts by their words."""

    def __init__(self, known: Iterable[Saying]) -> None:
        by_words: dict[tuple[str, ...], list[tuple[Words, Saying]]] = defaultdict(list)
        for saying in known:
            for each in _readings(saying):
                if len(set(filter(is_constant, each.words))) > 1 and _said(each) not in generic():
                    by_words[each.words].append((each, saying))
        self._count = len(by_words)
        self._frequency = Counter(word for each in by_words for word in set(each))
        self._by_word: dict[str, list[_Known]] = defaultdict(list)
        self._by_rarest: dict[str, list[_Known]] = defaultdict(list)
        for listed in by_words.values():
            self._add(listed[0][0], tuple([saying for _, saying in listed]))

    def _add(self, text: Words, said_by: tuple[Saying, ...]) -> None:
        pattern = TextPattern(parts(text.words))
        each = _Known(text, pattern, self._evidence(pattern.constants), said_by)
        for word in set(pattern.constants):
            self._by_word[word].append(each)
        self._by_rarest[self._rarest(pattern.constants)].append(each)

    def find(self, text: str) -> list[Match]:
        """Return the known texts in a text, those that say most first; if there is none, those that it is part of."""
        given = words(text)
        return _ranked(self._within(given)) or _ranked(self._parts(given))

    def _within(self, given: Words) -> Iterator[Match]:
        present = frozenset(given.words)
        for word in present:
            for known in self._by_rarest.get(word, ()):
                constants = known.pattern.constants
                if present.issuperset(constants):
                    is_long = len(constants) >= _LONG_WORDS and known.evidence >= _LONG
                    limits = None if is_long else given.boundaries
                    if known.pattern.is_in(given, limits, limits):
                        holes = len(known.words.words) - len(constants)
                        yield from [Match(saying, known.evidence, holes=holes) for saying in known.sayings]

    def _parts(self, given: Words) -> Iterator[Match]:
        """Yield the known texts of which a message at the end of a text, or around an ellipsis, is a part."""
        for part, is_beginning in _cut(given):
            if len(part) > _LONGEST:
                continue
            constants = self._known_words(part)
            if len(constants) < _PART_WORDS - (not is_beginning) or self._evidence(constants) < _PART:
                continue
            # The last word of a cut text may be cut itself.
            cut = "" if part[-1] in (*constants, HOLE, GAP) else part[-1]
            pattern = TextPattern(parts(part[:-1] if cut else part))
            if set(pattern.constants) - set(constants):
                continue
            found = [
                known
                for known in self._by_word[self._rarest(pattern.constants)]
                if set(pattern.constants) <= set(known.pattern.constants)
                and pattern.is_in(known.words, _beginnings(known.words, constants) if is_beginning else None)
                and any(word.startswith(cut) for word in known.words.words)
            ]
            if found:
                evidence = self._evidence(pattern.constants)
                yield from [Match(saying, evidence, is_part=True) for known in found for saying in known.sayings]
                return

    def _known_words(self, part: Sequence[str]) -> tuple[str, ...]:
        return tuple([word for word in part if is_constant(word) and word in self._by_word])

    def _rarest(self, constants: Sequence[str]) -> str:
        return min(constants, key=lambda word: (self._frequency[word], word))

    def _evidence(self, constants: Iterable[str]) -> float:
        """Return how much words say, in bits: the rarer each is among the known texts, the more."""
        return sum(math.log2(self._count / self._frequency[word]) for word in set(constants) if word in self._frequency)


@cache
def known_texts() -> TextIndex:
    """Return the index of every known error text."""
    return TextIndex(sayings())


def _readings(saying: Saying) -> Iterator[Words]:
    """Yield the words of a known text, and those with holes for quoted words that may differ."""
    # Whoever wrote a claim has written what differs as a placeholder, so that its quoted words are constant.
    is_template = bool(saying.claim) or saying.is_template
    message = _BRACES.sub(" … ", saying.message) if is_template else saying.message
    if saying.model and not saying.claim:
        message = message.replace(saying.model, "<model>")
    yield words(message)
    fixed = saying.fixed
    if fixed is not None:
        loose = _QUOTED.sub(lambda found: found[0] if found[2] in fixed else " <name> ", message)
        if loose != message:
            yield words(loose)


def _said(text: Words) -> str:
    return " ".join(filter(is_constant, text.words))


def _beginnings(known: Words, constants: Sequence[str]) -> frozenset[int]:
    """Return where the beginning of a cut message may be in a known text; few words are at its own beginning only."""
    return known.boundaries if len(constants) >= _MANY_WORDS else _FIRST


def _cut(given: Words) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield the parts of a text that may be the rest of a cut message, each with whether it begins as that did."""
    ends = [position for position, word in enumerate(given.words) if word == GAP]
    limits = list(zip([0, *[end + 1 for end in ends]], [*ends, len(given.words)], strict=True))
    boundaries = sorted(given.boundaries)
    for start, end in reversed(limits[-_MOST_PARTS:]):
        if start:
            yield given.words[start:end], False
        begins = boundaries[bisect_left(boundaries, start) : bisect_left(boundaries, end)]
        for begin in begins[-_MOST_PARTS:]:
            part = given.words[begin:end]
            if any(is_constant(word) and word not in _STATUS_WORDS for word in part):
                yield part, True


def _ranked(found: Iterable[Match]) -> list[Match]:
    """Return matches by what they say, the most first; what says much less than the best has to mean the same."""
    ranked = sorted(found, key=lambda each: (-each.evidence, each.holes))
    return [
        each
        for each in ranked
        if each.evidence >= _CLOSE * ranked[0].evidence or each.saying.cause == ranked[0].saying.cause
    ]
