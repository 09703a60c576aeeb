"""The published matrix as one page of Markdown: what it rests on, a row a subject, the seams, then all families."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from conformance.profiles import UNKNOWN, UPSTREAM
from conformance.reporting.matrix import PROBES, WORST_FIRST, Verdict
from conformance.reporting.matrix.headline import headline, worst
from conformance.reporting.matrix.key_behaviours import SEAMS
from conformance.reporting.matrix.sentences import VERDICTS
from conformance.reporting.matrix.table import CLAIMS, Entered, Subject, Table
from conformance.reporting.text import code, count, cut, prose, rows

_EVIDENCE: Final = """\
Evidence: **live** a real endpoint was asked; **recorded** recordings of a real endpoint; **engine** a real open-source
server that ran on one machine with a small scripted model; **simulated** this project's simulator; **sources** what is
written about a provider. Of an adapter is judged what it really sent, to the simulator of a provider.
"""
_WIDTH: Final = 60
_NAMED: Final = 12
"""How many subjects are named at a row before the rest is counted."""


def publish(table: Table) -> Mapping[str, str]:
    """Return the file, by its path."""
    return {"matrix.md": "".join(render(table))}


def render(table: Table) -> Iterator[str]:
    """Yield the page piece by piece."""
    yield "# Who conforms\n\n"
    yield from (f"{line}\n\n" for line in headline(table).lines(prose))
    yield from _rests(table)
    yield from rows(
        ["mark", "verdict", "what it says"],
        [[mark, verdict.value, words] for verdict, (mark, words) in VERDICTS.items()],
    )
    yield f"{_EVIDENCE}\n"
    providers = [subject for subject in table.subjects if subject.kind != "adapter"]
    adapters = [subject for subject in table.subjects if subject.kind == "adapter"]
    yield from _overview(table, providers, "Providers", "A number is that of rows with the mark before it.")
    yield from _seams(table, providers)
    yield from _overview(table, adapters, "Adapters", "Each with the provider that the simulator played to it.")
    yield from _of_adapters(table, adapters)
    yield "## Families\n\nOf how many subjects each row is declared (○), seen (✓) and not known (?); who departs from "
    yield "it or breaks it is named.\n\n"
    for family in dict.fromkeys([row.family for row in table.rows]):
        yield from _family(table, family)
    yield from _expected(table)


def _rests(table: Table) -> Iterator[str]:
    """Yield on what the cells rest: how many there are of each kind of evidence, with which verdict."""
    kinds = {subject.name: subject.kind for subject in table.subjects}
    counted: dict[tuple[str, str], dict[Verdict, int]] = {}
    for cell in table.cells:
        what = "claims" if cell.row.startswith(f"{CLAIMS}/") else "providers"
        verdicts = counted.setdefault(("adapters" if kinds[cell.subject] == "adapter" else what, cell.evidence), {})
        verdicts[cell.verdict] = verdicts.get(cell.verdict, 0) + 1
    yield from rows(
        ["what was judged", "evidence", "cells", *(f"{VERDICTS[verdict][0]} {verdict.value}" for verdict in Verdict)],
        [
            [
                what,
                evidence,
                f"{sum(verdicts.values()):,}",
                *(f"{verdicts[each]:,}" if each in verdicts else "" for each in Verdict),
            ]
            for (what, evidence), verdicts in sorted(counted.items())
        ],
    )


def _overview(table: Table, subjects: Sequence[Subject], heading: str, about: str) -> Iterator[str]:
    """Yield a table with a row a subject: for each family the marks and how many rows have them."""
    if not subjects:
        return
    names = {subject.name for subject in subjects}
    verdicts = worst([cell for cell in table.cells if cell.subject in names])
    counted: dict[str, dict[str, dict[Verdict, int]]] = {}
    for (subject, row), verdict in verdicts.items():
        family = counted.setdefault(subject, {}).setdefault(row.partition("/")[0], {})
        family[verdict] = family.get(verdict, 0) + 1
    met = {family for each in counted.values() for family in each}
    families = [family for family in dict.fromkeys([row.family for row in table.rows]) if family in met]
    evidence = _evidence(table)
    yield f"## {heading}\n\n{about}\n\n"
    yield from rows(
        [heading.lower().removesuffix("s"), "evidence", *families],
        [
            [
                _linked(subject),
                ", ".join(evidence.get(subject.name, ())),
                *(_marks(counted.get(subject.name, {}).get(family, {})) for family in families),
            ]
            for subject in subjects
        ],
    )


def _of_adapters(table: Table, adapters: Sequence[Subject]) -> Iterator[str]:
    """Yield a folded table with a row for each rule that an adapter breaks or departs from, and in how many cases."""
    lines = []
    for subject in adapters:
        for cell in table.of(subject.name):
            if cell.verdict in (Verdict.BREAKS, Verdict.DEPARTS, Verdict.ERRORED):
                told = [
                    _linked(subject),
                    code(cell.row),
                    cell.variant,
                    f"{VERDICTS[cell.verdict][0]} {len(cell.cases)}",
                ]
                lines.append([*told, prose(cut(cell.observed, 2 * _WIDTH))])
    if lines:
        yield "<details><summary><b>What each adapter breaks</b>, in how many cases, and the first finding"
        yield "</summary>\n\n"
        yield from rows(["adapter", "rule", "variant", "cases", "found"], lines)
        yield "</details>\n\n"


def _evidence(table: Table) -> Mapping[str, Sequence[str]]:
    """Return on what kinds of evidence the rules and probes of each subject rest."""
    found: dict[str, set[str]] = {}
    for cell in table.cells:
        if not cell.row.startswith(f"{CLAIMS}/"):
            found.setdefault(cell.subject, set()).add(cell.evidence)
    return {name: sorted(kinds) for name, kinds in found.items()}


def _linked(subject: Subject) -> str:
    if subject.kind == "adapter":
        return prose(subject.name.replace("/", " on "))
    further = f" {code(subject.model)}" if subject.name != subject.provider else ""
    return f"[{prose(subject.title)}](providers/{subject.provider}.md){further}"


def _marks(counts: Mapping[Verdict, int]) -> str:
    return " ".join([f"{VERDICTS[verdict][0]}\u202f{counts[verdict]}" for verdict in WORST_FIRST if verdict in counts])


def _seams(table: Table, providers: Sequence[Subject]) -> Iterator[str]:
    """Yield a table a group of seams, with a row a provider: what is claimed, and how often it was seen."""
    claimed = {(cell.subject, cell.row): cell for cell in table.cells if cell.row.startswith(f"{CLAIMS}/")}
    if not claimed:
        return
    yield "## The seams that break agent loops\n\nWhat is claimed of each provider; ×n: so many recordings of real "
    yield "traffic confirm it. Without a number it has its sources alone, a blank is as the canonical wire, ? was "
    yield "looked for and not found.\n\n"
    for group, seams in SEAMS.items():
        shown = [
            [_linked(each), *(_seam(claimed.get((each.name, f"{CLAIMS}/{seam.claim}"))) for seam in seams)]
            for each in providers
            if each.name == each.provider
        ]
        yield f"### {group}\n\n"
        yield from rows(["provider", *(seam.title for seam in seams)], shown)


def _seam(cell: Entered | None) -> str:
    if cell is None:
        return ""
    if cell.claim is None or cell.claim.value == UNKNOWN:
        return "?"
    if cell.claim.value == UPSTREAM:
        return "as its upstream"
    return f"{code(cut(cell.claimed, _WIDTH))}{_times(cell)}"


def _times(cell: Entered) -> str:
    if cell.verdict is Verdict.DEPARTS:
        confirmed = cell.observed.removeprefix("contradicted by ")
        return f" {VERDICTS[Verdict.DEPARTS][0]} {prose(confirmed)} contradict it"
    return f" ×{cell.judged}" if cell.judged else ""


def _family(table: Table, family: str) -> Iterator[str]:
    """Yield a folded table with a row for each rule, probe or claim: who conforms, departs and breaks."""
    prefix = f"{family}/"
    cells = [cell for cell in table.cells if cell.row.startswith(prefix)]
    by_row: dict[str, dict[Verdict, list[str]]] = {}
    for (subject, name), verdict in worst(cells).items():
        by_row.setdefault(name, {}).setdefault(verdict, []).append(subject)
    listed = [row for row in table.rows if row.family == family]
    yield f"<details><summary><b>{family}</b>: {count(len(listed), 'row')}</summary>\n\n"
    titles = ["row", "what it says", "○", "✓", "~ ✗ – !", "?"]
    shown = []
    for row in listed:
        said = by_row.get(row.name, {})
        level = f" ({row.level})" if row.level else ""
        bad = [f"{VERDICTS[verdict][0]} {_names(said[verdict])}" for verdict in _BAD if verdict in said]
        good = said.get(Verdict.CONFORMS, [])
        shown.append(
            [
                code(row.name.removeprefix(prefix)) + level,
                prose(cut(row.title, 2 * _WIDTH)) if family != PROBES else prose(cut(row.title, _WIDTH)),
                _number(said.get(Verdict.DECLARED, ())),
                _number(good),
                "; ".join(bad),
                _number(said.get(Verdict.UNKNOWN, ())),
            ]
        )
    yield from rows(titles, shown)
    yield "</details>\n\n"


_BAD: Final = (Verdict.DEPARTS, Verdict.BREAKS, Verdict.UNTESTED, Verdict.ERRORED)


def _names(subjects: Sequence[str]) -> str:
    shown = ", ".join([prose(each) for each in subjects[:_NAMED]])
    return shown + (f" and {len(subjects) - _NAMED} more" if len(subjects) > _NAMED else "")


def _number(subjects: Iterable[str]) -> str:
    return str(len(list(subjects)) or "")


def _expected(table: Table) -> Iterator[str]:
    found = [cell for cell in table.cells if cell.expected]
    if found:
        yield "## Expected failures\n\n"
        yield "Known, explained, and not this project's to mend; the gate fails once one is gone.\n\n"
        yield from rows(
            ["subject", "row", "variant", "evidence", "observed", "why"],
            [
                [
                    prose(each.subject),
                    code(each.row),
                    each.variant,
                    each.evidence,
                    prose(each.observed),
                    prose(each.expected),
                ]
                for each in found
            ],
        )
