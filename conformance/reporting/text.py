"""Text from the wire, as a terminal or a page of Markdown may show it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

_SPECIAL: Final = str.maketrans({each: f"\\{each}" for each in "\\`*_[]<>|#"})


def printable(text: str) -> str:
    """Return a text with its control characters spelled out: what came over the wire must not steer a terminal."""
    if text.isprintable():
        return text
    return "".join([each if each.isprintable() else repr(each)[1:-1] for each in text])


def code(text: str) -> str:
    """Return a text as a code span of Markdown that may stand in a table, whatever it holds; empty where it is."""
    shown = printable(text).replace("|", "\\|")
    if not shown:
        return ""
    fence = "`" * (max((len(list(run)) for each, run in groupby(shown) if each == "`"), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def prose(text: str) -> str:
    """Return a text as prose of Markdown on one line; what would be markup is shown as it stands, but for backticks."""
    pieces = " ".join(text.split()).split("`")
    if len(pieces) % 2 == 0:
        return printable(" ".join(text.split())).translate(_SPECIAL)
    return "".join(
        [code(each) if number % 2 else printable(each).translate(_SPECIAL) for number, each in enumerate(pieces)]
    )


def cut(text: str, width: int) -> str:
    """Return a text that is no longer than so many characters."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def rows(headings: Sequence[str], lines: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table of Markdown line by line, with an empty line behind it; none where it has no row."""
    found = list(lines)
    if found:
        yield _row(headings)
        yield _row(["---"] * len(headings))
        yield from (_row(line) for line in found)
        yield "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
