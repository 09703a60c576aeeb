"""The differences between two sets of results: for a terminal, and as Markdown for a pull request."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.gate import CheckResult, check_results
from conformance.reporting.text import Paint, code, printable
from conformance.results import Results

MAX_LISTED: Final = 50
"""How many checks of a kind are listed; the others are counted."""

_HEADINGS: Final = {
    "broken": ("newly failing", "red"),
    "removed": ("no longer tested", "red"),
    "fixed": ("fixed", "green"),
    "added": ("new and passing", "green"),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """Check results by how they changed.

    `broken`: they fail or are untested now, and did not before or did not exist. `fixed`: they no longer fail. `added`:
    new and passing. `removed`: only the old results have them. Errors count as failures.
    """

    broken: tuple[CheckResult, ...] = ()
    fixed: tuple[CheckResult, ...] = ()
    added: tuple[CheckResult, ...] = ()
    removed: tuple[CheckResult, ...] = ()

    @property
    def is_regression(self) -> bool:
        """Return True if something is worse than before: it fails, or is no longer tested."""
        return bool(self.broken or self.removed)


def difference(old: Sequence[Results], new: Sequence[Results]) -> Difference:
    """Return what changed from old results to new ones, in the order of the new ones.

    Results are compared by name: a renamed rule keeps its history, while a renamed model is removed and added.
    """
    before, after = _by_name(old), _by_name(new)
    failed = {name for name, result in before.items() if result.is_bad}
    return Difference(
        broken=tuple([result for name, result in after.items() if result.is_bad and name not in failed]),
        fixed=tuple([result for name, result in after.items() if not result.is_bad and name in failed]),
        added=tuple([result for name, result in after.items() if not result.is_bad and name not in before]),
        removed=tuple([result for name, result in before.items() if name not in after]),
    )


def _by_name(many: Iterable[Results]) -> dict[str, CheckResult]:
    return {result.names[0]: result for results in many for result in check_results(results)}


def render(found: Difference, paint: Paint) -> Iterator[str]:
    """Yield the report line by line."""
    for heading, colour, listed in _kinds(found):
        yield f"{paint(colour, f'{heading}: {len(listed)}')}\n"
        for result in listed[:MAX_LISTED]:
            yield f"    {printable(result.names[0] + (f': {result.message}' if result.message else ''))}\n"
        yield from [f"    and {len(listed) - MAX_LISTED} more\n"] if len(listed) > MAX_LISTED else []
    if found == Difference():
        yield "no changes\n"


def render_markdown(found: Difference) -> Iterator[str]:
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


def _kinds(found: Difference) -> Iterator[tuple[str, str, Sequence[CheckResult]]]:
    for name, (heading, colour) in _HEADINGS.items():
        listed = getattr(found, name)
        if listed:
            yield heading, colour, listed
