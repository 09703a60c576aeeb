"""The report on cited sources, for people: what has to be corrected, then what could not be checked."""

from collections import Counter
from collections.abc import Iterator, Sequence

from conformance.evidence.cited.checking import Report
from conformance.evidence.cited.newest import Move, Moved
from conformance.evidence.cited.problems import ProblemKind
from conformance.reporting.text import Paint, plural, printable

_MAX_CITED = 5


def render(report: Report, paint: Paint) -> Iterator[str]:
    """Yield the report line by line; the last line counts what was found."""
    for problem in report.problems:
        colour = "red" if problem.kind.is_finding else "yellow"
        yield f"{paint(colour, problem.kind.value)} {printable(problem.text)}\n"
        yield f"    {printable(problem.detail)}\n"
        yield f"    cited by {printable(_cited(problem.cited))}\n"
    counts = [f"{report.count(kind):,} {kind.value}" for kind in ProblemKind if report.count(kind)]
    if report.files:
        shown = [f"{number:,} {proof.value}" for proof, number in report.shown.items() if number]
        opened = f"{report.opened:,} of {plural(report.files, 'file')} opened"
        yield f"{opened}; in what cites them: {', '.join(shown) or 'nothing to find'}\n"
    pages = f"{report.answered:,} of {plural(report.addresses, 'page')} answered"
    found = "; ".join([pages, ", ".join(counts)] if counts else [pages])
    yield f"{plural(report.sources, 'source')} on {report.day}: {found}\n"


def render_moved(moved: Sequence[Moved], paint: Paint) -> Iterator[str]:
    """Yield what moved between cited and newest releases; the last line counts it."""
    for each in moved:
        if each.move is not Move.SAME:
            colour = "red" if each.move.is_finding else "yellow"
            yield f"{printable(each.name)} {printable(each.version)}: {paint(colour, each.move.value)}\n"
            yield f"    {printable(each.source.text)}\n    {printable(each.detail)}\n"
            yield f"    cited by {printable(_cited(each.cited))}\n"
    counted = Counter(each.move for each in moved)
    counts = ", ".join(f"{counted[move]:,} {move.value}" for move in Move if counted[move])
    yield f"{plural(len(moved), 'cited place')} in packages: {counts}\n"


def _cited(cited: Sequence[str]) -> str:
    more = len(cited) - _MAX_CITED
    shown = ", ".join(cited[:_MAX_CITED])
    return f"{shown}, and {more:,} more" if more > 0 else shown
