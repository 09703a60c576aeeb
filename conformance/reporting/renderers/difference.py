"""The differences between two sets of results: for a terminal, and as Markdown for a pull request."""

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.gate import CheckResult
from conformance.reporting.matrix.difference import ResultsDifference
from conformance.reporting.text import Paint, code, printable

MAX_LISTED: Final = 50
"""How many checks of a kind are listed; the others are counted."""

_HEADINGS: Final = {
    "broken": ("newly failing", "red"),
    "removed": ("no longer tested", "red"),
    "fixed": ("fixed", "green"),
    "added": ("new and passing", "green"),
}


def render(found: ResultsDifference, paint: Paint) -> Iterator[str]:
    """Yield the report line by line."""
    for heading, colour, listed in _kinds(found):
        yield f"{paint(colour, f'{heading}: {len(listed)}')}\n"
        for result in listed[:MAX_LISTED]:
            yield f"    {printable(result.names[0] + (f': {result.message}' if result.message else ''))}\n"
        yield from [f"    and {len(listed) - MAX_LISTED} more\n"] if len(listed) > MAX_LISTED else []
    if found == ResultsDifference():
        yield "no changes\n"


def render_markdown(found: ResultsDifference) -> Iterator[str]:
    """Yield the report as Markdown, line by line; what came over the wire is always in code spans."""
    verdict = "**regression**" if found.is_regression else "no regression"
    counts = ", ".join(f"{len(listed)} {heading}" for heading, _, listed in _kinds(found)) or "no changes"
    yield f"### Conformance: {verdict}\n\n{counts}\n"
    for heading, colour, listed in _kinds(found):
        folds = colour != "red"
        yield f"\n<details><summary>{heading}: {len(listed)}</summary>\n\n" if folds else f"\n**{heading}**\n\n"
        for result in listed[:MAX_LISTED]:
            yield f"- {code(result.names[0])}{f' — {code(result.message)}' if result.message else ''}\n"
        yield from [f"- and {len(listed) - MAX_LISTED} more\n"] if len(listed) > MAX_LISTED else []
        yield "\n</details>\n" if folds else ""


def _kinds(found: ResultsDifference) -> Iterator[tuple[str, str, Sequence[CheckResult]]]:
    for name, (heading, colour) in _HEADINGS.items():
        listed = getattr(found, name)
        if listed:
            yield heading, colour, listed
