"""A page of Markdown for a user's own results: each endpoint and adapter beside those of this project."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from conformance.core_facts import DEFINITIONS, CoreFact, core_facts
from conformance.gate import check_results
from conformance.profiles import UNKNOWN
from conformance.reporting.matrix import PROBES, counts_in_words
from conformance.reporting.matrix.table import ADAPTER, FAILING, Table, TableCell, TableSubject
from conformance.reporting.templates import render_template
from conformance.reporting.text import code, prose, shorten
from conformance.results import Evidence, Status
from conformance.results.runs import Results
from conformance.suite.run_claims import with_run_claims

PAGE: Final = "mine.md"

_AS_CANONICAL: Final = "as the canonical wire"
_WIDTH: Final = 60


class _Own(NamedTuple):
    """What the page shows of one subject."""

    subject: TableSubject
    evidence: str
    counts: str
    facts: Sequence[CoreFact]
    failing: Sequence[Sequence[str]]


def publish(table: Table) -> Mapping[str, str]:
    """Return the file by its path; none without results of a user's own."""
    return {PAGE: render(table)} if any(subject.mine for subject in table.subjects) else {}


def render(table: Table) -> str:
    """Return the page."""
    by_name = {results.name: results for results in table.inputs.results}
    mine = [_own(table, subject, by_name[subject.name]) for subject in table.subjects if subject.mine]
    endpoints = [each for each in mine if each.subject.kind != ADAPTER]
    adapters = [each for each in mine if each.subject.kind == ADAPTER]
    return render_template(
        "_markdown/mine.md.j2",
        mine=mine,
        compared=["", *(definition.title for definition in DEFINITIONS)],
        providers=list(_providers(table, endpoints)),
        adapters=list(_adapters(table, adapters)),
    )


def _own(table: Table, subject: TableSubject, results: Results) -> _Own:
    cells = [cell for cell in table.of(subject.name) if not cell.is_claim]
    kinds = [kind.value for kind in Evidence if any(cell.evidence == kind for cell in cells)]
    facts: Sequence[CoreFact] = () if subject.kind == ADAPTER else _facts(table, results)
    return _Own(
        subject,
        ", ".join(kinds),
        counts_in_words([cell.verdict for cell in cells]),
        facts,
        list(_failing(cells)),
    )


def _facts(table: Table, results: Results) -> Sequence[CoreFact]:
    claims = {name: claim.value for name, claim in results.claims.items()}
    profile = table.inputs.profile_of(results).with_claims(claims)
    found = core_facts(results.cases, profile.at(results.model, ""))
    is_live = any(case.evidence is Evidence.LIVE for case in results.cases)
    return with_run_claims(found, results.cases, results.claims, is_live=is_live)


def _failing(cells: Sequence[TableCell]) -> Iterator[Sequence[str]]:
    """Yield a row for each check that does not conform; variants that differ in nothing else stand together."""
    groups: dict[tuple[str, ...], list[TableCell]] = {}
    for cell in cells:
        if cell.verdict in FAILING:
            groups.setdefault((cell.row, cell.verdict, cell.evidence, cell.observed), []).append(cell)
    for group in groups.values():
        first = group[0]
        expected = f"<br>expected: {prose(first.expected)}" if first.expected else ""
        about = ", ".join([*(each.variant for each in group), first.evidence])
        name = f"{code(first.row.removeprefix(f'{PROBES}/'))} ({prose(about)})"
        yield [name, first.verdict.value, code(first.claimed), code(first.observed) + expected, code(first.command)]


def _providers(table: Table, endpoints: Sequence[_Own]) -> Iterator[Sequence[str]]:
    """Yield a row for each endpoint with what it showed, then one for each provider with what is claimed of it."""
    if not endpoints:
        return
    for each in endpoints:
        shown = [f"{fact.verdict.value}: {code(fact.observed) or 'nothing was observed'}" for fact in each.facts]
        yield [f"**{prose(each.subject.title)}**", *shown]
    for subject in table.subjects:
        if not subject.mine and subject.name == subject.provider:
            facts = core_facts((), table.inputs.profiles[subject.name].at(subject.model, ""))
            yield [f"[{prose(subject.title)}](providers/{subject.name}.md)", *map(_claimed, facts)]


def _claimed(fact: CoreFact) -> str:
    known = {name: words for name, words in fact.claimed.items() if words not in (_AS_CANONICAL, UNKNOWN)}
    return "<br>".join([f"{code(name)}: {code(shorten(words, _WIDTH))}" for name, words in known.items()])


def _adapters(table: Table, own: Sequence[_Own]) -> Iterator[Sequence[str]]:
    """Yield a row for each adapter of the user's, then one for each of this project with the same provider."""
    providers = {each.subject.provider for each in own}
    driven = [each for each in table.inputs.results if each.provider in providers]
    for results in sorted(driven, key=lambda each: (not each.mine, each.name)):
        checked = check_results(results)
        bad = {each.case for each in checked if each.is_bad}
        broken = dict.fromkeys([each.check for each in checked if each.is_bad and each.status is Status.FAILED])
        played = [case.name for case in results.cases if case.outcomes]
        name = prose(results.name.replace("/", " on "))
        shown = f"**{name}**" if results.mine else name
        yield [shown, f"{len(played) - len(bad)} of {len(played)}", ", ".join([code(each) for each in broken])]
