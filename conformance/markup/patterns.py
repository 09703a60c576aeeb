"""The patterns of all families, compiled once, and the cheap search that decides whether any of them is tried."""

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Final, NamedTuple

from conformance.markup.families import Family, load

CALL: Final = "tool call"
REASONING: Final = "reasoning"
TOKEN: Final = "special token"  # noqa: S105 — a token of a model's vocabulary
REMAINS: Final = "remains of a tool call"

_KINDS: Final = {"call": CALL, "fenced": CALL, "reasoning": REASONING, "remains": REMAINS, "token": TOKEN}

_ANGLE: Final = re.compile(
    r"<\s?(?:/?\s?[|｜]|/?(?:tool|thin|thought|func|invoke|param|arg_|mm:|minimax|seed:|ifm\||longcat|steptml|atem|iquest|dots_"
    r"|antml|TOOLCALL|AVAILABLE|SPECIAL|scratch_pad|answer>|start_of|end_of|beginning_of|start_func|end_func|escape>|bos>|eos>"
    r"|sop>|eop>|s>|role>|environment>)|\w{1,20}\|>)"
)
_BRACKET: Final = re.compile(
    r"\[(?:/?(?:TOOL|THINK\]|INST\]|SYSTEM_PROMPT|AVAILABLE_)|ARGS\]|CALL_ID\]|MODEL_SETT|gMASK\]|EO[ST]\]|e~\[|\|\w+\|\]"
    r"|Round \d+\] USER|Calling tool:)|\][~<]"
)
_WORDS: Final = ("functions.", "assistant", "call:", ">>>", " name=", "functools[", "Action:", "tool_call")
"""Each phrase holds one of them, or begins as a bracket does; looking for words is faster than for phrases."""

_PHRASE: Final = re.compile(
    r"functions\.[\w-]+:\d|to=functions\.|assistant(?:final|commentary|analysis)\S|call:[\w.-]+\{|>>>(?:all\n|[A-Za-z_])"
    r"|(?:invoke|parameter) name=|functools\[|Action:\s*(?:```|[\[{])|tool_call"
)
"""What the words stand in if they are markup."""
_PIECE: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}|.", re.S)
"""A piece of a regular expression: an escape, a class, a quantifier, any other character."""
_SPECIAL: Final = ".^$*+?()|{}"
_HEADS: Final = ("thought\n", "analysis", "Here is my thought process:", ">")


def may_leak(text: str) -> bool:
    """Return whether a text may hold markup; most have none of its signs, and cost nothing more."""
    if "<" in text and _ANGLE.search(text) is not None:
        return True
    if ("[" in text or "]" in text) and _BRACKET.search(text) is not None:
        return True
    # A list, not a generator: that takes half the time.
    if any([word in text for word in _WORDS]) and _PHRASE.search(text) is not None:
        return True
    return text[:40].lstrip().startswith(_HEADS)


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
