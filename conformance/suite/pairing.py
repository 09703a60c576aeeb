"""An answer in any words: which values it names, and beside which of their labels.

It is read in the smallest pieces that can be read: sentences, lines, or the whole text. A piece can be read if labels
and values take turns in it, as in "Madrid has 21 and Rome 24 degrees", or if it lists both in the rows of a table or
"respectively".
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_DIVISIONS: Final = tuple(map(re.compile, (r"(?<=[.!?;])\s+|\n+", r"\n+", r"(?!)")))
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d\d)")
_NOON: Final = 12
_UNITS: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDED: Final = 100


class Token(NamedTuple):
    """A label or a value where an answer names it; `number` is that of its call."""

    at: int
    number: int
    is_label: bool


def names(text: str, value: str) -> bool:
    """Return True if a text names a value, as a word of its own."""
    return next(_values(text, value), None) is not None


def mentions(text: str, label: str) -> bool:
    """Return True if a text has a label, in any case and with any accents."""
    return next(_words(_plain(text), _plain(label)), None) is not None


def pairs(answer: str, labels: Sequence[str], values: Sequence[str]) -> set[tuple[int, int]] | None:
    """Return which label an answer names with which value, by their numbers; None if it cannot be read."""
    for division in _DIVISIONS:
        found: set[tuple[int, int]] = set()
        for piece in division.split(answer):
            tokens = _tokens(piece, labels, values)
            if all(token.is_label for token in tokens):
                continue
            read = _alternating(tokens) or (_listed(tokens) if "respectively" in piece or "|" in piece else ())
            if not read:
                break
            found.update(read)
        else:
            return found
    return None


def _tokens(text: str, labels: Sequence[str], values: Sequence[str]) -> list[Token]:
    plain = _plain(text)
    named = [Token(at, number, True) for number, each in enumerate(labels) for at in _words(plain, _plain(each))]  # noqa: FBT003 — a label
    named += [Token(at, number, False) for number, each in enumerate(values) for at in _values(plain, each)]  # noqa: FBT003 — a value
    return sorted(named)


def _plain(text: str) -> str:
    """Return a text without accents."""
    return "".join([each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each)])


def _alternating(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return the pairs of tokens that take turns, always in the same order; none if they do not."""
    couples = list(zip(tokens[::2], tokens[1::2], strict=False))
    orders = {(first.is_label, second.is_label) for first, second in couples}
    if len(tokens) % 2 or orders not in ({(True, False)}, {(False, True)}):
        return []
    return [_pair(*couple) for couple in couples]


def _listed(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return the pairs of a list of labels and a list of values, in their order."""
    half = len(tokens) // 2
    first, second = tokens[:half], tokens[half:]
    kinds = [{each.is_label for each in side} for side in (first, second)]
    if len(first) != len(second) or kinds not in ([{True}, {False}], [{False}, {True}]):
        return []
    return [_pair(*couple) for couple in zip(first, second, strict=True)]


def _pair(first: Token, second: Token) -> tuple[int, int]:
    return (first.number, second.number) if first.is_label else (second.number, first.number)


def _words(text: str, wanted: str) -> Iterator[int]:
    """Yield where a text has a word, in any case."""
    if wanted:
        for found in re.finditer(rf"(?<!\w){re.escape(wanted)}(?!\w)", text, re.IGNORECASE):
            yield found.start()


def _values(text: str, value: str) -> Iterator[int]:
    """Yield where a text names a value, in each form that a person would read as it."""
    starts = {found.start() for form in _forms(value) for found in re.finditer(form, text)}
    yield from sorted(starts)


def _forms(value: str) -> Iterator[str]:
    """Yield patterns of a value: a number also with a decimal comma or in words, a time also by the half day."""
    if clock := _CLOCK.fullmatch(value):
        hour, minute = int(clock[1]), clock[2]
        yield rf"(?<!\d)0?{hour}[:.h]{minute}(?!\d)"
        half = "p" if hour >= _NOON else "a"
        yield rf"(?i)(?<!\d)0?{(hour - 1) % _NOON + 1}[:.]{minute}\s*{half}\.?\s?m"
    elif _NUMBER.fullmatch(value):
        whole, _, rest = value.partition(".")
        tail = rf"[.,]{rest}0*" if rest else r"(?:[.,]0+)?"
        yield rf"(?<!\d)(?<!\d[.,]){whole}{tail}(?![.,]?\d)"
        if not rest and int(whole) < _WORDED:
            yield rf"(?i)(?<!\w){_spelled(int(whole))}(?!\w)"
    else:
        yield rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])"


def _spelled(number: int) -> str:
    """Return the pattern of a number below 100 in words."""
    if number < len(_UNITS):
        return _UNITS[number]
    tens, units = divmod(number, 10)
    return _TENS[tens] + (f"[- ]{_UNITS[units]}" if units else "")
