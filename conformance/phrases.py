"""Groups of phrases in definitions, such as `must be|$needs`: a name after `$` stands for phrases listed elsewhere."""

from collections.abc import Iterator, Mapping
from typing import Final

_BETWEEN: Final = "|"
_NAMED: Final = "$"
_SHORT: Final = 3


def alternatives(group: str, named: Mapping[str, str]) -> list[str]:
    """Return the phrases of a group, those of its names too."""
    each_of = group.split(_BETWEEN)
    return [phrase for each in each_of for phrase in (named[each[1:]].split(_BETWEEN) if _is_name(each) else [each])]


def unnamed(group: str, named: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with a group: each name in it that stands for nothing."""
    for each in group.split(_BETWEEN):
        if _is_name(each) and each[1:] not in named:
            yield f"no words are named {each[1:]!r}"


def singular(word: str) -> str:
    """Return a word without the `s` at its end, by which words for the same differ most."""
    return word[:-1] if len(word) > _SHORT and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _is_name(phrase: str) -> bool:
    return phrase.startswith(_NAMED)
