"""Regular expressions for ids: one that matches all that were seen, and no others if enough were."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

_SEPARATED: Final = re.compile(r"([^A-Za-z0-9]+)")
_CLASSES: Final = (("0-9", "[0-9]"), ("0-9a-f", "[0-9a-f]"), ("0-9a-z", "[0-9a-z]"), ("0-9A-Z", "[0-9A-Z]"))
_ENOUGH: Final = 24
"""How many characters must be seen before a class narrower than letters and digits is believed."""

NAME: Final = "[A-Za-z0-9_-]+"
"""What stands for the name of the function in an id."""


def pattern(samples: Iterable[tuple[str, str]]) -> str:
    """Return an expression for ids, each given with the name of its function (empty if there is none)."""
    marked = list(dict.fromkeys(_marked(each, name) for each, name in samples))
    rows = [_SEPARATED.split(each) for each in marked]
    # Every second text is a separator: the ids have one shape if those are alike.
    if len({tuple(row[1::2]) for row in rows}) == 1:
        columns = zip(*rows, strict=True)
        parts = [_segment(column) if at % 2 == 0 else re.escape(column[0]) for at, column in enumerate(columns)]
        return "".join(parts).replace("\0", NAME)
    prefix = shared_start(marked)
    rest = [each[len(prefix) :] for each in marked]
    return f"{re.escape(prefix)}[0-9A-Za-z_.:-]{_length(rest)}".replace("\0", NAME)


def _marked(identifier: str, name: str) -> str:
    # NUL, which no id has: it survives re.escape, and becomes the expression for names in the end.
    return identifier.replace(name, "\0", 1) if name and name in identifier else identifier


def _segment(texts: Sequence[str]) -> str:
    distinct = set(texts)
    if len(distinct) == 1:
        (text,) = distinct
        return re.escape(text) if not any(map(str.isdecimal, text)) else _class(texts) + _length(texts)
    prefix = re.match("[A-Za-z]*", shared_start(texts))
    # Few samples, or a short beginning, may agree by chance.
    shared = prefix[0] if prefix and len(distinct) > 3 and len(prefix[0]) > 3 else ""
    rest = [text[len(shared) :] for text in texts]
    return re.escape(shared) + _class(rest) + _length(rest)


def _class(texts: Sequence[str]) -> str:
    text = "".join(texts)
    if len(text) < _ENOUGH:
        return "[0-9]" if text.isdecimal() else "[0-9A-Za-z]"
    return next((whole for _, whole in _CLASSES if re.fullmatch(f"{whole}*", text)), "[0-9A-Za-z]")


def _length(texts: Sequence[str]) -> str:
    lengths = {len(text) for text in texts}
    short = max(lengths, default=0) < 6
    return "+" if len(lengths) != 1 or short else f"{{{max(lengths)}}}"


def shared_start(texts: Sequence[str]) -> str:
    """Return the longest text with which all texts begin."""
    # What the first and the last text in alphabetical order share, all between them share, too.
    first, last = min(texts), max(texts)
    at = next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[:at]
