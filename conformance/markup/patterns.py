"""The patterns of all families, compiled once."""

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Final, NamedTuple

from conformance.markup.families import Family, load
from conformance.markup.signs import CALL, REASONING, REMAINS, TOKEN

_KINDS: Final = {"call": CALL, "fenced": CALL, "reasoning": REASONING, "remains": REMAINS, "token": TOKEN}

_PIECE: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}|.", re.S)
"""A piece of a regular expression: an escape, a class, a quantifier, any other character."""
_SPECIAL: Final = ".^$*+?()|{}"


class Marker(NamedTuple):
    """A literal marker: what it marks, and the families that have it; `closes`: whether it ends what it marks."""

    kind: str
    families: tuple[Family, ...]
    closes: bool


class Form(NamedTuple):
    """A pattern of one family, and whether code fences are looked into, too.

    `word`: what each text has that the pattern matches; looking for it costs a tenth of the pattern. It may be empty.
    """

    kind: str
    family: Family
    pattern: re.Pattern[str]
    in_fences: bool
    word: str


class Patterns(NamedTuple):
    """Every marker by its text, the pattern of all of them, and every form."""

    markers: Mapping[str, Marker]
    any_marker: re.Pattern[str]
    forms: tuple[Form, ...]


@cache
def patterns() -> Patterns:
    """Return the patterns of all families; they are compiled when a text first needs them."""
    found: dict[str, tuple[str, list[Family]]] = {}
    forms = []
    for family in load():
        for kind, texts in ((CALL, family.calls), (REASONING, family.reasoning), (TOKEN, family.tokens)):
            for text in texts:
                found.setdefault(text, (kind, []))[1].append(family)
        for kind, given in family.forms.items():
            forms += [
                Form(_KINDS[kind], family, re.compile(each, re.M), kind == "fenced", required_word(each))
                for each in given
            ]
    markers = {text: Marker(kind, tuple(given), _closes(text)) for text, (kind, given) in found.items()}
    # Longer markers first: one may be the beginning of another.
    listed = "|".join([re.escape(each) for each in sorted(markers, key=len, reverse=True)])
    # Any other word between the signs of special tokens is the token of a model that has no file.
    return Patterns(markers, re.compile(rf"(?=[<\[\]])(?:{listed}|<[|｜]/?\w[\w▁.:-]{{0,40}}[|｜]>)"), tuple(forms))


def required_word(pattern: str) -> str:
    """Return the longest text that stands in everything that a regular expression matches; empty if none is seen.

    Groups are passed over, and so are characters that may be absent. Flags inside a pattern are not understood.
    """
    words, word, depth = [""], "", 0
    for piece in _PIECE.findall(pattern):
        is_literal = piece[-1] not in _SPECIAL if len(piece) == 1 else piece[0] == "\\" and not piece[1].isalnum()
        if is_literal and not depth:
            word += piece[-1]
            continue
        if piece == "|" and not depth:
            return ""
        # A quantifier is about the character before it.
        words.append(word[:-1] if piece[0] in "?*{" else word)
        word, depth = "", depth + (piece == "(") - (piece == ")")
    return "" if "(?i" in pattern else max([*words, word], key=len)


def _closes(text: str) -> bool:
    lowered = text.lower()
    return (
        text.startswith(("</", "[/"))
        or (text.endswith("|>") and not text.startswith("<|"))
        or "end" in lowered
        or (lowered.startswith("<|close|>"))
    )


def names_pattern(names: Collection[str]) -> re.Pattern[str] | None:
    """Return what matches the name of a declared tool; None if there is none."""
    listed = "|".join([re.escape(each) for each in sorted(names, key=len, reverse=True)])
    return re.compile(rf"(?<![\w.-])(?:{listed})(?![\w-])") if listed else None
