"""The published matrix as one page of Markdown: the evidence, a row per subject, the key behaviours, all families."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from conformance.profiles import UNKNOWN, UPSTREAM
from conformance.reporting.matrix import CELL_VERDICTS, PROBES, WORST_FIRST
from conformance.reporting.matrix.headline import headline
from conformance.reporting.matrix.key_behaviours import KEY_BEHAVIOURS
from conformance.reporting.matrix.sentences import VERDICTS
from conformance.reporting.matrix.table import ADAPTER, CLAIMS, FAILING, Table, TableCell, TableSubject, worst
from conformance.reporting.templates import render_template
from conformance.reporting.text import code, prose, shorten
from conformance.results import Verdict

_WIDTH: Final = 60
_MAX_NAMES: Final = 12
"""How many subjects are named in a row; the others are counted."""


class _Overview(NamedTuple):
    """A row per subject: for each family the marks, and how many rows have them."""

    families: Sequence[str]
    rows: Sequence[Sequence[str]]


def publish(table: Table) -> Mapping[str, str]:
    """Return the file by its path."""
    return {"matrix.md": render(table)}


def render(table: Table) -> str:
    """Return the page."""
    providers = [subject for subject in table.subjects if subject.kind != ADAPTER]
    adapters = [subject for subject in table.subjects if subject.kind == ADAPTER]
    return render_template(
        "_markdown/matrix.md.j2",
        headline=headline(table).lines(prose),
        verdict_titles=[f"{VERDICTS[verdict][0]} {verdict.value}" for verdict in CELL_VERDICTS],
        counts=list(_counts(table)),
        verdicts=[[mark, verdict.value, meaning] for verdict, (mark, meaning) in VERDICTS.items()],
        providers=_overview(table, providers),
        behaviours=list(_behaviours(table, providers)),
        adapters=_overview(table, adapters),
        failing=list(_failing(table, adapters)),
        families=list(_families(table)),
        expected=[
            [
                prose(cell.subject),
                code(cell.row),
                cell.variant,
                cell.evidence,
                prose(cell.observed),
                prose(cell.expected),
            ]
            for cell in table.cells
            if cell.expected
        ],
    )


def _counts(table: Table) -> Iterator[Sequence[str]]:
    """Yield the number of cells, and of each verdict, by what was checked and by evidence."""
    kinds = {subject.name: "adapters" if subject.kind == ADAPTER else "providers" for subject in table.subjects}
    groups: dict[tuple[str, str], Counter[Verdict]] = {}
    for cell in table.cells:
        what = CLAIMS if cell.is_claim else kinds[cell.subject]
        groups.setdefault((what, cell.evidence), Counter())[cell.verdict] += 1
    for (what, evidence), counted in sorted(groups.items()):
        numbers = [f"{counted[verdict]:,}" if counted[verdict] else "" for verdict in CELL_VERDICTS]
        yield [what, evidence, f"{counted.total():,}", *numbers]


def _overview(table: Table, subjects: Sequence[TableSubject]) -> _Overview:
    names = {subject.name for subject in subjects}
    cells = [cell for cell in table.cells if cell.subject in names]
    counted: dict[tuple[str, str], Counter[Verdict]] = {}
    for (subject, row), verdict in worst(cells).items():
        counted.setdefault((subject, row.partition("/")[0]), Counter())[verdict] += 1
    used = {family for _, family in counted}
    families = [family for family in dict.fromkeys([row.family for row in table.rows]) if family in used]
    evidence: dict[str, set[str]] = {name: set() for name in names}
    for cell in cells:
        if not cell.is_claim:
            evidence[cell.subject].add(cell.evidence)
    rows = [
        [
            _linked(each),
            ", ".join(sorted(evidence[each.name])),
            *(_marks(counted.get((each.name, family), Counter())) for family in families),
        ]
        for each in subjects
    ]
    return _Overview(families, rows)


def _linked(subject: TableSubject) -> str:
    if subject.kind == ADAPTER:
        return prose(subject.name.replace("/", " on "))
    model = f" {code(subject.model)}" if subject.name != subject.provider else ""
    return f"[{prose(subject.title)}](providers/{subject.provider}.md){model}"


def _marks(counted: Mapping[Verdict, int]) -> str:
    return " ".join([f"{VERDICTS[each][0]}\u202f{counted[each]}" for each in WORST_FIRST if each in counted])


def _behaviours(
    table: Table, providers: Sequence[TableSubject]
) -> Iterator[tuple[str, Sequence[str], Sequence[Sequence[str]]]]:
    """Yield the key behaviours by topic: their titles, and a row per provider."""
    cells = {(cell.subject, cell.row): cell for cell in table.cells if cell.is_claim}
    for topic, behaviours in KEY_BEHAVIOURS.items() if cells else ():
        rows = [
            [_linked(each), *(_behaviour(cells.get((each.name, f"{CLAIMS}/{key.claim}"))) for key in behaviours)]
            for each in providers
            if each.name == each.provider
        ]
        yield topic, [each.title for each in behaviours], rows


def _behaviour(cell: TableCell | None) -> str:
    if cell is None:
        return ""
    if cell.claim is None or cell.claim.value == UNKNOWN:
        return "?"
    if cell.claim.value == UPSTREAM:
        return "depends on upstream"
    value = code(shorten(cell.claimed, _WIDTH))
    if cell.verdict is Verdict.DEPARTS:
        return f"{value} {VERDICTS[Verdict.DEPARTS][0]} {prose(cell.observed)}"
    return f"{value} ×{cell.judged}" if cell.judged else value


def _failing(table: Table, adapters: Sequence[TableSubject]) -> Iterator[Sequence[str]]:
    """Yield each rule that an adapter breaks or departs from, with the number of cases and the first finding."""
    for subject in adapters:
        for cell in table.of(subject.name):
            if cell.verdict in (Verdict.BREAKS, Verdict.DEPARTS, Verdict.ERRORED):
                cases = f"{VERDICTS[cell.verdict][0]} {len(cell.cases)}"
                finding = prose(shorten(cell.observed, 2 * _WIDTH))
                yield [_linked(subject), code(cell.row), cell.variant, cases, finding]


def _families(table: Table) -> Iterator[tuple[str, Sequence[Sequence[str]]]]:
    """Yield the rows of each family, with the number or names of the subjects by verdict."""
    subjects: dict[tuple[str, Verdict], list[str]] = {}
    for (subject, name), verdict in worst(table.cells).items():
        subjects.setdefault((name, verdict), []).append(subject)
    for family in dict.fromkeys([row.family for row in table.rows]):
        rows = []
        for row in table.rows:
            if row.family == family:
                found = {
                    verdict: subjects[row.name, verdict] for verdict in CELL_VERDICTS if (row.name, verdict) in subjects
                }
                level = f" ({row.level})" if row.level else ""
                rows.append(
                    [
                        code(row.name.removeprefix(f"{family}/")) + level,
                        prose(shorten(row.title, _WIDTH if family == PROBES else 2 * _WIDTH)),
                        *(str(len(found.get(each, ())) or "") for each in (Verdict.DECLARED, Verdict.CONFORMS)),
                        "; ".join([f"{VERDICTS[each][0]} {_names(found[each])}" for each in FAILING if each in found]),
                        str(len(found.get(Verdict.UNKNOWN, ())) or ""),
                    ]
                )
        yield family, rows


def _names(subjects: Sequence[str]) -> str:
    shown = ", ".join([prose(each) for each in subjects[:_MAX_NAMES]])
    return shown + (f" and {len(subjects) - _MAX_NAMES} more" if len(subjects) > _MAX_NAMES else "")
