"""What the words of an error say about its cause if no host is known to say its text."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance import definitions
from conformance.documents.pointer import Place
from conformance.error_texts.causes import causes
from conformance.error_texts.words import words

_FILE: Final = Path(__file__).with_name("_signs.yaml")
_NEAR: Final = 16
"""Within how many words a phrase follows the one before it: about a sentence."""

_REST: Final = "*"
_Phrase = tuple[str, ...]


class Sign(NamedTuple):
    """The cause that a text has if one phrase of each group follows one of the group before it."""

    cause: str
    groups: tuple[tuple[_Phrase, ...], ...]


def likely_cause(text: str) -> str:
    """Return the id of the cause that the words of an error say; empty if they say none."""
    positions: dict[str, list[int]] = defaultdict(list)
    for position, word in enumerate(words(text).words):
        positions[word].append(position)
    spans: dict[_Phrase, list[tuple[int, int]]] = {}
    return next((sign.cause for sign in signs() if _fits(sign, positions, spans)), "")


def _fits(sign: Sign, positions: Mapping[str, Sequence[int]], spans: dict[_Phrase, list[tuple[int, int]]]) -> bool:
    """Return whether a text has the phrases of a sign; `spans` keeps where each phrase begins and ends."""
    ends: list[int] | None = None
    for group in sign.groups:
        found: set[int] = set()
        for phrase in group:
            if phrase not in spans:
                spans[phrase] = list(_spans(phrase, positions))
            found.update([end for start, end in spans[phrase] if ends is None or _is_near(start, ends)])
        ends = sorted(found)
        if not ends:
            return False
    return True


def _is_near(start: int, ends: Sequence[int]) -> bool:
    """Return whether a position is within some words after one of some ends."""
    at = bisect_left(ends, start - _NEAR)
    return at < len(ends) and ends[at] <= start


def _spans(phrase: _Phrase, positions: Mapping[str, Sequence[int]]) -> Iterator[tuple[int, int]]:
    first, *rest = [_places(word, positions) for word in phrase]
    for start in sorted(first):
        if all(start + 1 + number in places for number, places in enumerate(rest)):
            yield start, start + len(phrase)


def _places(word: str, positions: Mapping[str, Sequence[int]]) -> frozenset[int]:
    if _REST not in word:
        return frozenset(positions.get(word, ()))
    stem = word.strip(_REST)
    fits = str.endswith if word.startswith(_REST) else str.startswith
    return frozenset([place for each, places in positions.items() if fits(each, stem) for place in places])


@cache
def signs() -> tuple[Sign, ...]:
    """Return the signs, special ones first; raises InvalidDocument for a broken file."""
    document = definitions.read(_FILE, "error-signs", _errors)
    return tuple([Sign(each["cause"], tuple(map(_group, each["says"]))) for each in document.value["signs"]])


def _errors(value: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    for number, each in enumerate(value["signs"]):
        if each["cause"] not in causes():
            yield ("signs", number, "cause"), f"unknown cause {each['cause']!r}"


def _group(alternatives: str) -> tuple[_Phrase, ...]:
    return tuple([tuple(phrase.split()) for phrase in alternatives.split("|")])
