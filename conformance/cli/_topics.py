"""Topics of questions in a reader's own words, in several languages: which names answer them."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from math import log
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance import definitions
from conformance.documents.pointer import Place
from conformance.phrases import alternatives, singular, unnamed

_FILE: Final = Path(__file__).with_name("_topics.yaml")
_WORD: Final = re.compile(r"[\w]+")
_REST: Final = "*"
_SIMILAR: Final = 0.84
_LEAST_LETTERS: Final = 5
_Phrase = tuple[str, ...]


class Topic(NamedTuple):
    """Something that readers ask about: the names that answer it, and groups of words that a question has."""

    answers: tuple[str, ...]
    asks: tuple[tuple[_Phrase, ...], ...]


def answers(text: str) -> tuple[str, ...]:
    """Return the names that answer a question, those of the topic with most of its words first; none if none fits."""
    given = [_nearest(singular(word)) for word in words(text)]
    # Words of scripts without spaces are found as parts of a text.
    plain = _plain(text)
    found = [(each, [_found(group, given, plain) for group in each.asks]) for each in topics()]
    fitting = [(sum(map(max, weights)), each) for each, weights in found if all(weights)]
    ranked = [each for _, each in sorted(fitting, key=lambda one: -one[0])]
    return tuple(dict.fromkeys(name for each in ranked for name in each.answers))


def _found(group: Sequence[_Phrase], given: Sequence[str], plain: str) -> list[float]:
    """Return the weights of the phrases of a group that a text has: the more, the fewer topics have them."""
    return [_weights()[phrase] for phrase in group if _is_in(phrase, given, plain)]


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without accents."""
    return _WORD.findall(_plain(text).replace("-", " ").replace("'", ""))


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.lower())
    return "".join([letter for letter in decomposed if not unicodedata.combining(letter)])


def _is_in(phrase: _Phrase, given: Sequence[str], plain: str) -> bool:
    if len(phrase) == 1 and not phrase[0].isascii() and not phrase[0].endswith(_REST):
        return phrase[0] in plain
    size = len(phrase)
    return any(all(map(_is, phrase, given[at : at + size])) for at in range(len(given) - size + 1))


def _is(wanted: str, word: str) -> bool:
    return word.startswith(wanted[:-1]) if wanted.endswith(_REST) else wanted == word


def _nearest(word: str) -> str:
    """Return a word, or the one that it is misspelt for."""
    known = vocabulary()
    if word in known or len(word) < _LEAST_LETTERS:
        return word
    return next(iter(get_close_matches(word, known, 1, _SIMILAR)), word)


@cache
def vocabulary() -> frozenset[str]:
    """Return the words by which topics are found."""
    return frozenset([word for each in topics() for group in each.asks for phrase in group for word in phrase])


@cache
def _weights() -> Mapping[_Phrase, float]:
    counted = Counter(phrase for each in topics() for phrase in {one for group in each.asks for one in group})
    return {phrase: 1 + log(len(topics()) / number) for phrase, number in counted.items()}


@cache
def topics() -> tuple[Topic, ...]:
    """Return the topics; raises InvalidDocument for a broken file."""
    value: Mapping[str, Any] = definitions.read(_FILE, "question-topics", _errors).value
    named = value["words"]
    return tuple([Topic(tuple(each["answers"]), _groups(each["asks"], named)) for each in value["topics"]])


def _groups(asks: Sequence[str], named: Mapping[str, str]) -> tuple[tuple[_Phrase, ...], ...]:
    return tuple([tuple(map(_phrase, alternatives(group, named))) for group in asks])


def _phrase(text: str) -> _Phrase:
    return tuple([singular(word) for word in re.findall(r"[\w]+\*?", _plain(text).replace("-", " "))])


def _errors(value: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    for number, each in enumerate(value["topics"]):
        for group in each["asks"]:
            yield from [(("topics", number, "asks"), wrong) for wrong in unnamed(group, value["words"])]
