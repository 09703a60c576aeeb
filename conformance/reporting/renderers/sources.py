"""The report on cited sources, for people: what has to be corrected, then what could not be checked."""

from collections.abc import Iterator

from conformance.evidence.cited.checking import Report
from conformance.evidence.cited.problems import Problem, ProblemKind
from conformance.reporting.text import Paint, plural, printable

_MAX_CITED = 5


def render(report: Report, paint: Paint) -> Iterator[str]:
    """Yield the report line by line; the last line counts what was found."""
    for problem in report.problems:
        colour = "red" if problem.kind.is_finding else "yellow"
        yield f"{paint(colour, problem.kind.value)} {printable(problem.text)}\n"
        yield f"    {printable(problem.detail)}\n"
        yield f"    cited by {printable(_cited(problem))}\n"
    counts = [f"{report.count(kind):,} {kind.value}" for kind in ProblemKind if report.count(kind)]
    pages = f"{report.answered:,} of {plural(report.addresses, 'page')} answered"
    found = "; ".join([pages, ", ".join(counts)] if counts else [pages])
    yield f"{plural(report.sources, 'source')} on {report.day}: {found}\n"


def _cited(problem: Problem) -> str:
    more = len(problem.cited) - _MAX_CITED
    shown = ", ".join(problem.cited[:_MAX_CITED])
    return f"{shown}, and {more:,} more" if more > 0 else shown
