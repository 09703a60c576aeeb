"""What the words of an error say about its cause if no host is known to say its text."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance import definitions
from conformance.documents.pointer import Place
from conformance.error_texts.causes import causes
from conformance.error_texts.words import MAX_CHARACTERS, words
from conformance.phrases import alternatives, singular, unnamed

_FILE: Final = Path(__file__).with_name("_signs.yaml")
_NEAR: Final = 16
"""Within how many words a phrase follows the one before it: about a sentence."""

_KEY: Final = re.compile(
    r"\\{0,8}['\"]\s{0,9}([,{])\s{0,9}\\{0,8}['\"](?:message|msg|error|errors|type|code|status|object|param|detail|details|name)"
    r"\\{0,8}['\"]\s{0,9}:|(?<=\{)\\{0,8}['\"](?:message|msg|error|errors|detail|details)\\{0,8}['\"]\s{0,9}:"
)
"""What JSON and Python write between the texts of an error, whose words are none of the host's."""

_ERROR: Final = re.compile(
    r"error|exception|\b[45]\d\d\b|invalid|fail|warning|unsupported|not supported|unable to"
    r"|please (?:check|try|ensure|provide)"
    r"|[`{}\[\]\"]|\w_\w|错误|报错|エラー|ошибк|fehler",
    re.IGNORECASE,
)
"""What errors mostly have and prose has not."""

_REST: Final = "*"
_PARTS: Final = frozenset({"messages", "tools"})
"""Words that name a part of a request, and without their `s` something in it."""

_Phrase = tuple[str, ...]
_Group = tuple[_Phrase, ...]


class Sign(NamedTuple):
    """The cause that a text has if, in one of some orders, a phrase of each group follows one of the group before it.

    An empty cause means that the text is about something else. `within`: how many words may stand between two phrases.
    `is_weak`: it says so only of what else shows to be an error, not of prose. `unless`: phrases of which none stands
    anywhere in the text.
    """

    cause: str
    orders: tuple[tuple[_Group, ...], ...]
    within: int = _NEAR
    is_weak: bool = False
    unless: _Group = ()


class ValueList(NamedTuple):
    """The cause of an error that lists only some of these values as the ones that are accepted."""

    cause: str
    values: frozenset[str]


def likely_cause(text: str, *, is_clear: bool = True, is_error: bool = False) -> str:
    """Return the id of the cause that the words of an error say; empty if none, or if it is of another program.

    `is_clear`: whether no host is known to say this text for many causes, so that weak signs count. `is_error`: whether
    it is known to be an error, by its status; otherwise it has to look like one.
    """
    positions: dict[str, list[int]] = defaultdict(list)
    for position, word in enumerate(words(_KEY.sub(" … ", text)).words):
        positions[_folded(word)].append(position)
    spans: dict[_Phrase, list[tuple[int, int]]] = {}
    counts_weak = is_clear and (is_error or bool(_ERROR.search(text[:MAX_CHARACTERS])))
    found = (sign.cause for sign in signs() if (counts_weak or not sign.is_weak) and _fits(sign, positions, spans))
    return next(found, "")


def _fits(sign: Sign, positions: Mapping[str, Sequence[int]], spans: dict[_Phrase, list[tuple[int, int]]]) -> bool:
    """Return whether a text has the phrases of a sign; `spans` keeps where each phrase begins and ends."""

    def places(group: _Group) -> Iterator[tuple[int, int]]:
        for phrase in group:
            if phrase not in spans:
                spans[phrase] = list(_spans(phrase, positions))
            yield from spans[phrase]

    for groups in sign.orders:
        ends: list[int] | None = None
        for group in groups:
            found = {end for start, end in places(group) if ends is None or _is_near(start, ends, sign.within)}
            ends = sorted(found)
            if not ends:
                break
        else:
            return not any(places(sign.unless))
    return False


def _is_near(start: int, ends: Sequence[int], within: int) -> bool:
    """Return whether a position is within some words after one of some ends."""
    at = bisect_left(ends, start - within)
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


def _folded(word: str) -> str:
    """Return a word without dashes, underscores and an `s` at its end, by which words for the same differ most."""
    word = word.replace("_", "").replace("-", "") or word
    return word if word in _PARTS else singular(word)


@cache
def signs() -> tuple[Sign, ...]:
    """Return the signs, special ones first; raises InvalidDocument for a broken file."""
    names = _document().get("words", {})
    listed = _document()["signs"]
    return tuple([_sign(each, names) for each in listed])


def _sign(each: Mapping[str, Any], names: Mapping[str, str]) -> Sign:
    unless = _group(each["unless"], names) if "unless" in each else ()
    return Sign(each["cause"], tuple(_orders(each, names)), each.get("within", _NEAR), each.get("weak", False), unless)


@cache
def value_lists() -> tuple[ValueList, ...]:
    """Return the lists of values that say a cause; raises InvalidDocument for a broken file."""
    return tuple([ValueList(each["cause"], frozenset(each["of"])) for each in _document().get("lists", ())])


@cache
def _document() -> Mapping[str, Any]:
    found: Mapping[str, Any] = definitions.read(_FILE, "error-signs", _errors).value
    return found


def _errors(value: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    known = value.get("words", {})
    for kind in ("signs", "lists"):
        for number, each in enumerate(value.get(kind, ())):
            if each["cause"] and each["cause"] not in causes():
                yield (kind, number, "cause"), f"unknown cause {each['cause']!r}"
            for group in (*each.get("says", ()), *each.get("near", ()), each.get("unless", "")):
                yield from [((kind, number), wrong) for wrong in unnamed(group, known)]


def _orders(each: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[tuple[_Group, ...]]:
    if "says" in each:
        yield tuple([_group(group, names) for group in each["says"]])
    else:
        yield from permutations([_group(group, names) for group in each["near"]])


def _group(group: str, names: Mapping[str, str]) -> _Group:
    phrases = [tuple(map(_folded, phrase.split())) for phrase in alternatives(group, names)]
    return tuple(dict.fromkeys(phrases))
