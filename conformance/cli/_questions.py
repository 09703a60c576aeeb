"""Questions in a reader's own words: the rules, claims and causes that have most of their words, misspelt or not."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from math import log
from typing import Any, Final

from conformance import profiles, rules
from conformance.cli import _topics
from conformance.error_texts.causes import causes
from conformance.profiles import naming
from conformance.reporting.text import labelled
from conformance.rules import advice

_WORD: Final = re.compile(r"[a-z0-9]+")
_COPIED: Final = re.compile(r"[{}\[\]<>\"'`=|\n]|: |\b[45]\d\d\b")
"""What texts of programs have, and words of people mostly not."""

_ABOUT: Final = re.compile(r"(?!.*\b(?:error|exception|failed)\b)(\w[\w.-]*(?: \w[\w.-]*){0,2}): ", re.IGNORECASE)
"""What a reader asks about: a provider, and a colon. An error of one names it so too, but says that it is one."""

_ASKS: Final = re.compile(
    r"^(?:why|what|which|where|when|who|how|can|does|do|is|are|must|should|will|may|was|warum|wieso|wie|welche\w*|kann"
    r"|pourquoi|comment|quel\w*|por que|porque|como|cual|puedo|почему|как|можно|为什么|为何|怎么|如何|なぜ|どう)\b"
    r"|[?？]\s*$",
    re.IGNORECASE,
)
"""How questions begin or end."""

_PLACES: Final = ("on", "at", "via", "with", "through", "bei", "auf", "en", "chez", "sur")
_MOST_NAME_WORDS: Final = 2

_SHOWN: Final = 5
_IN_NAME: Final = 3
"""How much more a word counts in the name or the title than in the rest."""

_LEAST_WORDS: Final = 3
_LETTERS: Final = r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
_SCRIPT: Final = re.compile(_LETTERS + "{4}")
"""Scripts without spaces write a sentence as one word."""

_EDGE: Final = re.compile(rf"(?<=[a-z0-9])(?={_LETTERS})|(?<={_LETTERS})(?=[a-z0-9])")
_LEAST_SHARE: Final = 0.34
"""How many of the words of a question, by their weight, the best answer has to have."""

_ADVANTAGE: Final = 1.25
"""How much more a claim counts that is about a refusal of the provider in question."""

_LONGEST: Final = 160
_SIMILAR: Final = 0.85
_LEAST_LETTERS: Final = 4
_IDLE: Final = frozenset(
    {
        "a", "accept", "accepts", "allowed", "an", "and", "are", "as", "at", "be", "but", "by", "can", "do", "does",
        "error", "for", "from", "get", "gets", "got", "happen", "have", "how", "i", "if", "in", "is", "it", "me", "my",
        "need", "needs",
        "not", "of", "on", "or", "say", "says", "send", "sends", "sent", "take", "takes", "that", "the",
        "their", "there", "they", "to", "too", "use", "uses", "want", "wants", "what", "when", "where", "which", "who",
        "why", "will", "with",
    }
)  # fmt: skip
_SAME: Final[Mapping[str, tuple[str, ...]]] = {
    "same": ("unique", "duplicate"),
    "twice": ("unique", "duplicate"),
    "lost": ("index", "distinct", "complete"),
    "missing": ("absent", "omitted", "missing"),
    "back": ("omitted", "omit", "turn"),
    "penalty": ("unsupported", "field"),
    "temperature": ("fixed", "parameter"),
    "picture": ("image",),
    "function": ("tool",),
    "thought": ("signature", "reasoning"),
    "max": ("maximum", "limit"),
    "json": ("json", "format", "response"),
    "without": ("missing", "unanswered"),
}
"""Words of readers, and those that names here have for them."""


@dataclass(frozen=True, slots=True, eq=False)
class NamedText:
    """Something that can be explained: its name, its kind, a line about it, and its words by their weight."""

    name: str
    kind: str
    line: str
    words: Mapping[str, int]


def is_question(text: str) -> bool:
    """Return whether a text is several words, of which some are in the names that can be explained."""
    is_sentence = len(_topics.words(text)) >= _LEAST_WORDS or bool(_SCRIPT.search(text))
    return is_sentence and (bool(_topics.answers(text)) or _is_of_names(text))


def _is_of_names(text: str) -> bool:
    """Return whether at least half of the words of a text, without names of providers, are in the names here."""
    words = [word for word in _words(text) if len(word) >= _LEAST_LETTERS and not _nearest_name(word)]
    known = [word for word in words if _known(word)]
    return bool(known) and 2 * len(known) >= len(words)


def is_own_words(text: str) -> bool:
    """Return whether a text is a question, or a complaint, in the words of a reader."""
    plain = text.replace("n't", "nt").replace("'s ", "s ")
    about = _ABOUT.match(plain)
    if about is not None and _provider_in(about[1]):
        plain = plain[about.end() :]
    return (bool(_ASKS.search(plain.strip())) or not _COPIED.search(plain)) and is_question(text)


def answered(text: str, width: int) -> Iterator[str]:
    """Yield the lines of an answer to a question; none if nothing has enough of its words."""
    provider = _provider_in(text)
    asked = _asked(text, provider)
    total = sum(_weights().get(word, 0) for word in asked)
    refused = _refused(provider) if provider else frozenset()
    scores = {each: _score(each, asked) * (_ADVANTAGE if each.name in refused else 1) for each in _answers()}
    by_words = sorted(scores, key=lambda each: (-scores[each], each.name))
    named = {each.name: each for each in reversed(_answers())}
    by_topic = [named[name] for name in _topics.answers(text)]
    if not by_topic and (not total or scores[by_words[0]] < _LEAST_SHARE * total):
        return
    yield from labelled("question", text, width)
    for each in list(dict.fromkeys([*by_topic, *by_words]))[:_SHOWN]:
        yield from ("", f"{each.name} ({each.kind})", *labelled("", each.line, width))
        if provider and each.kind == "claim":
            yield from labelled(f"  {provider}:", _claimed(provider, each.name), width)
    yield from ("", "explain one of these names for more; an error text is explained word for word as it came")


def _score(answer: NamedText, asked: Sequence[str]) -> float:
    weights = _weights()
    found = [weights[word] * min(answer.words[word], _IN_NAME) / _IN_NAME for word in asked if word in answer.words]
    return sum(found)


def _asked(text: str, provider: str) -> list[str]:
    """Return the words of a question as names here write them, without those that name the provider."""
    found: list[str] = []
    for word in _words(text):
        if provider and (word in _WORD.findall(provider) or _nearest_name(word) == provider):
            continue
        meant = _known(word)
        found += [meant, *_SAME.get(meant, ())]
    return [each for each in dict.fromkeys(found) if each in _weights()]


def _known(word: str) -> str:
    """Return a word of the answers that another word is, or is misspelt for; empty if there is none."""
    known = _known_words()
    if word in known or len(word) < _LEAST_LETTERS:
        return word if word in known else ""
    return next(iter(get_close_matches(word, known, 1, _SIMILAR)), "")


@cache
def _known_words() -> frozenset[str]:
    return frozenset({*_weights(), *_SAME})


def _provider_in(text: str) -> str:
    """Return the profile that words of a question name, misspelt or not, a host before a model; empty if none do."""
    spelled = _EDGE.sub(" ", text.lower()).rstrip("?!. ").split()
    named = [
        (spelled[at - 1] not in _PLACES if at else True, meant.profile)
        for size in range(_MOST_NAME_WORDS, 0, -1)
        for at in range(len(spelled) - size + 1)
        if not any(map(_is_plain, spelled[at : at + size]))
        and (meant := naming.find(" ".join(spelled[at : at + size]))) is not None
        and not (size > 1 and _is_topic(spelled[at : at + size]))
    ]
    return min(named)[1] if named else next(filter(None, map(_nearest_name, _words(text))), "")


def _is_plain(word: str) -> bool:
    """Return whether a word is a short or a common one that names nothing."""
    return word in _IDLE or (len(word) < _LEAST_LETTERS and word in _topics.vocabulary())


def _is_topic(words: Sequence[str]) -> bool:
    """Return whether one of some words is one of the answers, so that they are no name."""
    return any(word in _weights() for word in words)


def _nearest_name(word: str) -> str:
    if len(word) < _LEAST_LETTERS or word in _weights():
        return word if word in profiles.names() else ""
    meant = naming.find(word)
    if meant is not None:
        return meant.profile
    return next(iter(get_close_matches(word, profiles.names(), 1, _SIMILAR)), "")


def _claims(provider: str) -> Mapping[str, Any]:
    profile = profiles.load_profile(provider)
    return profile.on(profile.presumed_wire).at(profile.model)


def _refused(provider: str) -> frozenset[str]:
    return frozenset([name for name, value in _claims(provider).items() if profiles.rejects_or_damages(value)])


def _claimed(provider: str, claim: str) -> str:
    """Return what a provider does by a claim: the text of its refusal, its value, or that it is not known."""
    value = _claims(provider).get(claim, "unknown, or as on the canonical wire")
    refusal = value.get("refusal", value) if isinstance(value, dict) else value
    if isinstance(refusal, dict) and "status" in refusal:
        return f"{refusal['status']} {refusal.get('message') or ''}".strip()
    return str(value) if len(str(value)) <= _LONGEST else f"{str(value)[:_LONGEST]}…"


@cache
def _answers() -> tuple[NamedText, ...]:
    found = [_answer(rule.id, "rule", rule.title, " ".join(advice(rule.doc))) for rule in rules.load()]
    found += [_answer(name, "claim", meaning, "") for name, meaning in profiles.vocabulary().items()]
    found += [_answer(each.id, "cause of errors", f"{each.meaning} {each.fix}", "") for each in causes().values()]
    return tuple(found)


def _answer(name: str, kind: str, line: str, rest: str) -> NamedText:
    words = Counter(dict.fromkeys(_words(f"{name} {line}"), _IN_NAME))
    for word in _words(rest):
        words[word] = max(words[word], 1)
    return NamedText(name, kind, line, words)


@cache
def _weights() -> Mapping[str, float]:
    """Return each word of the answers by how rare it is."""
    counted = Counter(word for each in _answers() for word in each.words)
    return {word: log(len(_answers()) / number) for word, number in counted.items()}


def _words(text: str) -> list[str]:
    found = [word.removesuffix("s") if len(word) > _LEAST_LETTERS else word for word in _WORD.findall(text.lower())]
    return [word for word in dict.fromkeys(found) if word not in _IDLE]
