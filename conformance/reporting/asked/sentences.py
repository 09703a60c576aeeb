"""A wish in a sentence: words of a wish, hosts and models wherever they stand, and others that say nothing."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from typing import Final

from conformance import profiles
from conformance.profiles import naming
from conformance.profiles.texts import outlines
from conformance.reporting.asked.vocabulary import FILLERS, PHRASES, WIRES, Understood, is_listed, unknown

_SPOKEN: Final = 6
"""Words of a sentence, in which some may mean nothing; in a shorter wish, such a word is most likely a mistake."""

_TOKEN: Final = re.compile(r"[^\s,;!?()\"“”]+")
_PATH: Final = re.compile(r"^/?(?:v\d[a-z\d]*/)?(?=chat/|messages$|responses$)|^:(?=generatecontent)", re.IGNORECASE)
_CLIENTS: Final = frozenset({"claude code", "gemini cli", "codex cli", "qwen code"})
_NEGATIONS: Final = frozenset({"not", "never", "without", "no", "don't", "dont", "off", "nor", "disable", "except"})
_NEAR: Final = 0.8
_WORD: Final = re.compile(r"[a-z]+")
_ENDS: Final = " .!?:"


def spoken(text: str) -> list[str]:
    """Return the words of a text if it is a sentence, without the beginnings of paths; none if it is a short wish."""
    tokens = [_PATH.sub("", each.strip(_ENDS)).replace("chat/", "chat ") for each in _TOKEN.findall(text)]
    words = [each.removesuffix("'s").removesuffix("’s") for token in tokens for each in token.split()]
    return words if len(words) >= _SPOKEN else []


def scan(words: list[str], found: Understood) -> None:
    """Take over what the words of a sentence say, wherever in it they stand.

    Raises UnknownName for a word that is nearly one of a wish, and for one that may turn the meaning of others round.
    """
    at = 0
    while at < len(words):
        lengths = [each for each in (4, 3, 2, 1) if not _holds_a_model(words[at : at + each], words[at + each :])]
        length = next((each for each in lengths if _take_over(words[at : at + each], found)), 0)
        if not length:
            word = words[at].lower()
            if word in _NEGATIONS or (word not in FILLERS and get_close_matches(word, _single_words(), 1, _NEAR)):
                raise unknown(words[at])
            if word not in FILLERS:
                found.ignored.append(words[at])
        at += length or 1


def _take_over(words: list[str], found: Understood) -> bool:
    """Take over some words of a sentence if they are a phrase, a host or a model, and return whether they are."""
    text = " ".join(words)
    phrase = text.lower().replace("-", " ").replace("_", " ")
    if phrase in PHRASES:
        found.set(phrase)
    elif phrase in WIRES:
        found.set_wire(phrase)
    elif phrase not in _CLIENTS:
        if not _may_be_a_name(words):
            return False
        resolved = naming.find(text)
        if resolved is not None and resolved.model and _begins_with_a_host(words):
            return False
        if resolved is not None:
            found.named[text] = resolved
        elif naming.serving(text):
            found.models.append(text)
        else:
            return False
    return True


def _may_be_a_name(words: Sequence[str]) -> bool:
    """Return whether some words of a sentence may be a host or a model, such as `kimi k2 thinking`."""
    plain = [word.lower() for word in words]
    if FILLERS & {*plain} or any(word.isalpha() and word not in _name_words() for word in plain):
        return False
    parts = [" ".join(plain[first:last]) for first in range(1, len(plain)) for last in range(first + 1, len(plain) + 1)]
    return not any(each in PHRASES or each in WIRES for each in parts) or is_listed(" ".join(words))


def _holds_a_model(host: Sequence[str], following: Sequence[str]) -> bool:
    """Return whether the last word of a host begins a model: `vertex gemini` before `2.5 flash`."""
    if len(host) < 2 or not following or not following[0][:1].isdigit():
        return False
    named, rest = naming.find(" ".join(host)), naming.find(" ".join([host[-1], *following[:1]]))
    is_host = named is not None and not named.model and naming.find(" ".join(host[:-1])) is not None
    return is_host and rest is not None and bool(rest.model)


def _begins_with_a_host(words: Sequence[str]) -> bool:
    """Return whether some words are a host and something else: a name of two words, or two hosts."""
    for length in range(len(words) - 1, 0, -1):
        host, rest = naming.find(" ".join(words[:length])), naming.find(" ".join(words[length:]))
        if host is not None and not host.model and (length > 1 or (rest is not None and not rest.model)):
            return True
    return False


@cache
def _name_words() -> frozenset[str]:
    """Return the words of which the names of providers and of models are made."""
    every = (*profiles.names(), *naming.called(), *[model for each in outlines() for model in each.models])
    return frozenset(word for each in every for word in _WORD.findall(each.lower()))


@cache
def _single_words() -> tuple[str, ...]:
    """Return the words of phrases, and the names of hosts."""
    words = {word for phrase in (*PHRASES, *WIRES) for word in phrase.split()} | {*profiles.names()}
    return tuple(sorted(each for each in words if len(each) > 3))
