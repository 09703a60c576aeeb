"""Finds leaked markup in a text: what a parser should have taken out, and not what the text says about markup."""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from conformance.markup.bare_calls import bare_calls, may_call
from conformance.markup.families import Family
from conformance.markup.patterns import Form, patterns
from conformance.markup.quoting import QUOTED, masked
from conformance.markup.signs import CALL, REASONING, REMAINS, TOKEN, may_leak

_ORDER: Final = (CALL, REMAINS, REASONING, TOKEN)
"""What says more comes first."""

_QUOTES: Final = "\"'“‘«„「『(\x00"
_ABOUT: Final = re.compile(
    r"\b(?:e\.g|examples?|instance|such as|looks? like|called|named|means?|tags?|tokens?|markers?|markup|syntax"
    r"|formats?|elements?|literal(?:ly)?|writes?|written|written as|emits?|delimiters?|strings?|sequences?"
    r"|special|stop|eos|bos)\b[^.!?\n]{0,60}$",
    re.I,
)
"""A sentence about markup, up to the marker."""

_BULLET: Final = re.compile(r"^[ \t]*(?:[-*+•|]|\d{1,3}[.)])[ \t]*$")
_SENTENCE_END: Final = ".!?:;…。！？)}]>\"'*`\x00"
_LINKING: Final = re.compile(
    r"(?:^|\s)(?:is|are|was|the|an?|with|by|as|and|or|of|to|in|at|from|for|like|use|than|before|after|between|this|that|no)$",
    re.I,
)
_PROSE_AFTER: Final = re.compile(r"[>\]})]\s+(?:[a-z]+[,;]?\s+){2,}")
_GOES_ON: Final = re.compile(r"[ \t]+(?:[a-z]+[,;]?[ \t]+){2,}")
_NEAR: Final = 200
_FEW: Final = 8
_MOST: Final = 200
"""How many markers of a text are looked at, so that a text of nothing else costs no more than others."""

_CUT: Final = re.compile(
    r"(?:</?[|｜][\w▁｜|]{0,40}|</?tool_[a-z]{0,10}|</?(?:minimax|seed|longcat|steptml|atem|ifm|iquest)[:|_][a-z_]{0,16}"
    r"|\[/?TOOL_[A-Z_]{0,16}|</?\s?DSML.{0,20})\Z"
)
"""The beginning of a marker at the end of a text: a parser has taken the rest, or never got it."""

_BEHEADED: Final = re.compile(
    r"\A\s*/?[a-z_▁|｜]{0,24}(?:_calls?|▁begin|▁end|▁sep|_begin|_end|think)[|｜]?>(?=\s*[{\[\n\w]|\s*\Z)"
)
"""The end of a marker at the beginning of a text."""


class Leak(NamedTuple):
    """Markup in a text: what it is, the families that write it, the marker as it stands there, and where.

    `families` is empty for a special token of no known family. `is_certain`: it holds the call of a declared tool.
    """

    kind: str
    families: tuple[Family, ...]
    marker: str
    start: int
    is_certain: bool = False


def find_leaks(text: str, names: Collection[str] = ()) -> tuple[Leak, ...]:
    """Return the markup that leaked into a text, what says most about it first.

    `names`: those of the declared tools, which show a call that has no marker of its own, and that a sentence before
    one is not about markup.
    """
    if not text:
        return ()
    is_marked = may_leak(text)
    if not is_marked and not may_call(text, names):
        return ()
    plain = masked(text)
    every = [*_merged(_forms(text, plain)), *_markers(plain), *_fragments(plain)] if is_marked else []
    every = [leak._replace(is_certain=_calls_declared(plain, leak, names)) for leak in every]
    found = [leak for leak in every if leak.is_certain or not _is_about(plain, leak)]
    bare = bare_calls(text, plain, names)
    found += [Leak(CALL, tuple(families), marker, at, is_certain=True) for families, marker, at in bare]
    # The sort is stable: a form, which knows the family, stays before the marker that it begins with.
    return tuple(sorted(found, key=lambda each: (_ORDER.index(each.kind), each.start)))


def _merged(leaks: Iterable[Leak]) -> Iterator[Leak]:
    """Yield one leak for the same form of several families."""
    found: dict[tuple[str, int], Leak] = {}
    for leak in leaks:
        known = found.setdefault((leak.kind, leak.start), leak)
        found[leak.kind, leak.start] = known._replace(families=tuple(dict.fromkeys(known.families + leak.families)))
    yield from found.values()


def _forms(text: str, plain: str) -> Iterator[Leak]:
    for form in patterns().forms:
        searched = text if form.in_fences else plain
        found = form.pattern.search(searched) if form.word in searched else None
        if found is not None:
            start = found.start("m") if "m" in form.pattern.groupindex else found.start()
            leak = Leak(
                form.kind, (form.family,), _shown(found["m"] if "m" in form.pattern.groupindex else found[0]), start
            )
            if not _is_quoted(plain, leak.start, found.end()) and not _is_in_prose(plain, form, found):
                yield leak


def _shown(matched: str) -> str:
    """Return the part of a match that findings quote: its first marker."""
    stripped = matched.strip()
    tag = re.match(r"<[^<>\s]*>?|\[[^\[\]\s]*\]", stripped)
    return tag[0] if tag and len(tag[0]) > 2 else stripped


def _is_in_prose(plain: str, form: Form, found: re.Match[str]) -> bool:
    """Return whether a sentence goes on before and after a form, so that it is an example in it."""
    if form.kind is REMAINS and _GOES_ON.match(plain, found.end()):
        return True
    if form.kind not in (CALL, REMAINS) or _is_left_edge(plain, found.start(), found.end()):
        return False
    line = plain[found.start() : plain.find("\n", found.end()) if "\n" in plain[found.end() :] else None]
    return _PROSE_AFTER.search(line) is not None


def _markers(plain: str) -> Iterator[Leak]:
    known = patterns().markers
    for found in islice(patterns().any_marker.finditer(plain), _MOST):
        marker, start, end = known.get(found[0]), found.start(), found.end()
        kind = TOKEN if marker is None else marker.kind
        if _is_quoted(plain, start, end):
            continue
        is_left = _is_left_edge(plain, start, end)
        is_right = _is_right_edge(plain, end)
        if marker is not None and marker.closes and kind is REASONING:
            is_left = is_left or _is_after_text(plain, start)
        if is_left and is_right:
            yield Leak(kind, () if marker is None else marker.families, found[0], start)


def _fragments(plain: str) -> Iterator[Leak]:
    """Yield what is left of a marker at either end of a text."""
    # A marker that is cut is short, and searching all of a long text for it takes as long as all other searches.
    for found in (_CUT.search(plain, max(0, len(plain) - _NEAR)), _BEHEADED.search(plain)):
        if found is not None and not _is_quoted(plain, found.start(), found.end()):
            half = found[0].strip()
            known = patterns().markers
            whole = [each for name, each in known.items() if (name.startswith(half) or name.endswith(half))]
            families = tuple(dict.fromkeys([family for each in whole for family in each.families]))
            kinds = {each.kind for each in whole} or {CALL}
            kind = REMAINS if CALL in kinds else REASONING if REASONING in kinds else TOKEN
            if half not in known and _is_left_edge(plain, found.start(), found.end()):
                yield Leak(kind, families, half, found.start())


def _is_quoted(plain: str, start: int, end: int) -> bool:
    before = plain[start - 1 : start]
    return before in _QUOTES and bool(before) and before != QUOTED and plain[end : end + 1] != "\n"


def _is_left_edge(plain: str, start: int, end: int) -> bool:
    """Return whether no sentence leads to a marker: it begins a line, follows a sentence, or sticks to a word."""
    # A line may be long, and markers many: a part of it shows as much.
    line = plain[max(plain.rfind("\n", 0, start) + 1, start - _NEAR) : start]
    if _BULLET.match(line):
        return False
    before = line.rstrip()
    if not before or before == line or before[-1] in _SENTENCE_END:
        return True
    # At the very end of a text, a blank before it may be the model's own.
    return not plain[end:].strip() and _LINKING.search(before) is None and _ABOUT.search(before) is None


def _is_right_edge(plain: str, end: int) -> bool:
    """Return whether no sentence goes on after a marker."""
    rest = plain[end : end + 80]
    line = rest.partition("\n")[0]
    after = line.lstrip()
    if not after:
        return True
    if after == line:
        return after[0] not in ",;:.!?)'\"”’…/-–—\\|"
    return after[0].isupper() or after[0] in "{[<\x00" or not after[0].isascii()


def _is_after_text(plain: str, start: int) -> bool:
    """Return whether a marker comes after some lines of text, as the end of reasoning does."""
    before = plain[max(0, start - _NEAR) : start]
    return "\n" in before or len(before.split()) > _FEW


def _is_about(plain: str, leak: Leak) -> bool:
    """Return whether the sentence before a marker is about markup."""
    if leak.kind is REASONING and leak.marker.startswith(("</", "[/")):
        return False
    before = plain[max(0, leak.start - 120) : leak.start].rstrip()
    return bool(before) and _leads_to_markup(before)


# A model that repeats a token does so for pages, with the same text before each.
@lru_cache(maxsize=64)
def _leads_to_markup(before: str) -> bool:
    return _ABOUT.search(before) is not None


def _calls_declared(plain: str, leak: Leak, names: Collection[str]) -> bool:
    """Return whether a declared tool is named soon after the marker of a call."""
    if leak.kind is not CALL or not names:
        return False
    near = plain[leak.start : leak.start + 300]
    return any([name in near for name in names])
