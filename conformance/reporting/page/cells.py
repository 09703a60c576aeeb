"""Every cell of the matrix as compact data: texts and details once, and a subject's cells in columns of numbers."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

from conformance.profiles import Claim, Source
from conformance.reporting.matrix import WORST_FIRST, brief
from conformance.reporting.matrix.sentences import describe
from conformance.reporting.matrix.table import CLAIMS, FAILING, SOURCES, Table, TableCell
from conformance.reporting.text import printable
from conformance.results import Evidence, Finding

MAX_FINDINGS: Final = 3
"""How many findings of a cell are shown; the others are counted."""

KINDS: Final = (*[kind.value for kind in Evidence], SOURCES)
"""The kinds of evidence, by their numbers in the data."""

_SCENARIO, _CLAIM = "{scenario}", "{claim}"
"""What a command names, in the commands of a subject."""


class Numbers:
    """Numbers values in the order in which they occur, each value once; control characters of texts are escaped."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}

    def __call__(self, value: Hashable) -> int:
        """Return the number of a value."""
        return self._known.setdefault(printable(value) if isinstance(value, str) else value, len(self._known))

    def of(self, *values: str) -> tuple[int, ...]:
        """Return the numbers of some texts."""
        return tuple([self(value) for value in values])

    def values(self) -> Sequence[Hashable]:
        """Return the values, each at its number."""
        return tuple(self._known)


def cells_data(table: Table) -> Mapping[str, Any]:
    """Return the cells.

    `cells` has for each subject columns: rows, variants, verdicts, kinds of evidence, numbers of checked elements,
    details, commands, scenarios. `commands` has those of each subject, with a place for a scenario or a claim.
    """
    texts, details = Numbers(), Numbers()
    texts("")
    rows = {row.name: number for number, row in enumerate(table.rows)}
    verdicts = {verdict: number for number, verdict in enumerate(WORST_FIRST)}
    evidence = {kind: number for number, kind in enumerate(KINDS)}
    found: dict[str, list[tuple[int, ...]]] = {subject.name: [] for subject in table.subjects}
    commands: dict[str, Numbers] = {subject.name: Numbers() for subject in table.subjects}
    for cell in table.cells:
        command, scenario = _command(cell)
        found[cell.subject].append(
            (
                rows[cell.row],
                texts(cell.variant),
                verdicts[cell.verdict],
                evidence[cell.evidence],
                cell.judged,
                details(_details(cell, texts)),
                commands[cell.subject](command),
                texts(scenario),
            )
        )
    return {
        "texts": texts.values(),
        "details": details.values(),
        "commands": [each.values() for each in commands.values()],
        "cells": [[*zip(*each, strict=True)] for each in found.values()],
    }


def _command(cell: TableCell) -> tuple[str, str]:
    """Return the command of a cell with a place for the scenario or claim that it names, and the scenario."""
    scenario = cell.cases[0].partition(".")[0] if cell.cases else ""
    if cell.is_claim:
        claim = cell.row.removeprefix(f"{CLAIMS}/")
        return cell.command.replace(f" {claim} ", f" {_CLAIM} "), ""
    if scenario and cell.command.endswith(f" {scenario}"):
        return f"{cell.command.removesuffix(scenario)}{_SCENARIO}", scenario
    return cell.command, ""


def _details(cell: TableCell, texts: Numbers) -> Hashable:
    failing = cell.verdict in FAILING
    shown = cell.findings[:MAX_FINDINGS]
    return (
        *texts.of(cell.claimed, cell.observed, cell.expected),
        texts.of(*cell.cases) if failing else (),
        tuple([_finding(finding, texts) for finding in shown]),
        len(cell.findings) - len(shown),
        _claim(cell.claim, texts) if cell.claim is not None else 0,
    )


def _finding(finding: Finding, texts: Numbers) -> Hashable:
    refusal = finding.refusal
    answer = brief({"status": refusal.status, "message": refusal.message}) if refusal is not None else ""
    return texts.of(finding.at, finding.message, finding.level.value, finding.excerpt, finding.asked, answer)


def _claim(claim: Claim, texts: Numbers) -> Hashable:
    return (
        texts(describe(claim.name, claim.value, str)),
        *texts.of(claim.since, claim.until, claim.versions, claim.confidence, claim.note),
        _sources(claim.source, texts),
        tuple([(*texts.of(brief(each.value), each.note), _sources([each.source], texts)) for each in claim.disagrees]),
    )


def _sources(sources: Iterable[Source], texts: Numbers) -> Hashable:
    return tuple([texts.of(source.text, source.link, source.read, source.quote) for source in sources])
