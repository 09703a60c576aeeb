"""Report of a difference between results: for a terminal, and as Markdown for a comment on a pull request."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from conformance.gate import Fact
from conformance.reporting.matrix.difference import Difference
from conformance.reporting.text import printable

MOST: Final = 50
"""How many facts of a kind are named; the rest is counted."""

_HEADINGS: Final = {
    "broke": ("broke", "red"),
    "gone": ("not put to the test any more", "red"),
    "mended": ("mended", "green"),
    "appeared": ("new and passing", "green"),
}


def render(found: Difference, paint: Callable[[str, str], str]) -> Iterator[str]:
    """Yield the report line by line."""
    for heading, colour, listed in _kinds(found):
        yield f"{paint(colour, f'{heading}: {len(listed)}')}\n"
        for fact in listed[:MOST]:
            yield f"    {printable(_told(fact))}\n"
        yield from [f"    and {len(listed) - MOST} more\n"] if len(listed) > MOST else []
    if found == Difference():
        yield "nothing changed\n"


def render_markdown(found: Difference) -> Iterator[str]:
    """Yield the report as Markdown, line by line; what the wire said stands in code spans alone."""
    verdict = "**regression**" if found.is_regression else "no regression"
    counts = ", ".join(f"{len(listed)} {heading}" for heading, _, listed in _kinds(found)) or "nothing changed"
    yield f"### Conformance: {verdict}\n\n{counts}\n"
    for heading, colour, listed in _kinds(found):
        folds = colour != "red"
        yield f"\n<details><summary>{heading}: {len(listed)}</summary>\n\n" if folds else f"\n**{heading}**\n\n"
        for fact in listed[:MOST]:
            yield f"- {_code(fact.names[0])}{f' — {_code(fact.message)}' if fact.message else ''}\n"
        yield from [f"- and {len(listed) - MOST} more\n"] if len(listed) > MOST else []
        yield "\n</details>\n" if folds else ""


def _kinds(found: Difference) -> Iterator[tuple[str, str, Sequence[Fact]]]:
    for name, (heading, colour) in _HEADINGS.items():
        listed = getattr(found, name)
        if listed:
            yield heading, colour, listed


def _told(fact: Fact) -> str:
    return fact.names[0] + (f": {fact.message}" if fact.message else "")


def _code(text: str) -> str:
    """Return a text as a code span, whatever backticks it holds."""
    shown = printable(text)
    fence = "`" * (max((len(run) for run in _runs(shown)), default=0) + 1)
    pad = " " if "`" in shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _runs(text: str) -> list[str]:
    return [run for run in "".join(each if each == "`" else " " for each in text).split() if run]
