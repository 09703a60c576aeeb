"""The table of all gateways: facts by front and back, as a page of Markdown, with what was lost and where."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from conformance.gateways.loss import GatewayLoss, known, losses, title
from conformance.reporting.text import code, markdown_table, plural, prose
from conformance.results import Level, Status
from conformance.results.runs import Results

_SEP: Final = "; after it: "
_MAX_SHOWN: Final = 40

INTRODUCTION: Final = """\
Each gateway runs on this machine between a client of ours and a simulated provider, with nonces in every text, argument
and result.
A cell says what becomes of a fact at one front before one back:

| word | meaning |
| --- | --- |
| kept | nothing was lost; ids may be mapped |
| **lost** | lost or changed, in at least one case (MUST) |
| said | changed or dropped in a way that is a SHOULD or a MAY |
| – | there was nothing to compare |
"""


Issues: TypeAlias = Mapping[str, Mapping[str, str]]
"""The issues in which a fault is known: by gateway with its version, then by fact."""

_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


def render(
    many: Sequence[Results],
    unable: Sequence[tuple[str, str]] = (),
    issues: Issues = _NONE,
    notes: Mapping[str, str] = _NONE,
) -> str:
    """Return the page; `unable` are gateways that cannot run here, each with the reason, `notes` those of others."""
    return "\n".join(_lines(sorted(many, key=lambda each: each.name), unable, issues, notes)) + "\n"


def _lines(
    many: Sequence[Results], unable: Sequence[tuple[str, str]], issues: Issues, notes: Mapping[str, str]
) -> Iterator[str]:
    yield from ("# Gateways", "", INTRODUCTION)
    by_gateway: dict[str, list[Results]] = {}
    for results in many:
        by_gateway.setdefault(results.subject.partition(":")[0], []).append(results)
    for name, own in by_gateway.items():
        day = max([each.run.date for each in own], default="")
        yield from (f"## {prose(name)}", "", f"Run on {day}. {prose(notes.get(name, ''))}".strip(), "")
        heads = [f"{each.run.protocol} → {each.provider}" for each in own]
        facts = [fact for fact in known() if any([_cell(each, fact) != "–" for each in own])]
        rows = [[code(fact.partition("/")[2]), *[_cell(each, fact) for each in own]] for fact in facts]
        yield markdown_table(["fact", *map(prose, heads)], rows)
        yield ""
        yield from _details(own, issues.get(name, {}))
    if unable:
        yield from ("## Gateways that do not run here", "")
        yield markdown_table(["gateway", "reason"], [[prose(name), prose(reason)] for name, reason in unable])


def _cell(results: Results, fact: str) -> str:
    found = [outcome for case in results.cases for outcome in case.outcomes if outcome.rule == fact]
    statuses = {each.status for each in found}
    if any([each.status is Status.FAILED and each.level is Level.MUST for each in found]):
        return "**lost**"
    if Status.FAILED in statuses:
        return "said"
    return "kept" if Status.PASSED in statuses else "–"


def _details(own: Sequence[Results], issues: Mapping[str, str]) -> Iterator[str]:
    """Yield what is lost, each fact once with the fronts and backs that lose it, one proof and its issue."""
    found: dict[str, list[GatewayLoss]] = {}
    for results in own:
        for loss in losses(results):
            if loss.outcome.level is Level.MUST:
                found.setdefault(loss.outcome.rule, []).append(loss)
    for fact, same in sorted(found.items())[:_MAX_SHOWN]:
        first = min(same, key=lambda each: len(str(each.bodies)) or 10**9)
        text, _, became = first.finding.message.rpartition(_SEP)
        ends = ", ".join([f"{each.results.run.protocol} → {each.results.provider}" for each in same])
        cases = plural(sum([len(each.cases) for each in same]), "case")
        yield f"- {code(fact)}: {prose(title(fact))} Lost at {prose(ends)}, in {cases}. "
        yield f"  {code(first.case.name)}: {code(text)}, at {code(first.finding.at)} before and {code(became)} after."
        if fact in issues:
            yield f"  See <{issues[fact]}>."
    yield ""
