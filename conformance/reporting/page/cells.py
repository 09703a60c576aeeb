"""Every cell of the matrix as compact data: texts and details once, and a row's cells in columns of numbers."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from conformance.profiles import Claim, Profile, Source
from conformance.reporting.answers.observed import by_month
from conformance.reporting.matrix import PROBES, WORST_FIRST, brief
from conformance.reporting.matrix.sentences import describe
from conformance.reporting.matrix.table import (
    CLAIMS,
    FAILING,
    SOURCES,
    Inputs,
    Table,
    TableCell,
    TableSubject,
    claim_evidence,
)
from conformance.reporting.text import printable
from conformance.results import Evidence, Finding
from conformance.results.calibration import counts

MAX_FINDINGS: Final = 2
"""How many findings of a cell are shown; the others are counted."""

KINDS: Final = (*[kind.value for kind in Evidence], SOURCES)
"""The kinds of evidence, by their numbers in the data."""

SAME, ON_GITHUB = "=", "@"
"""Instead of the address of a source: it is its text, or that of the file on GitHub that the text names."""

_FILE: Final = re.compile(r"([\w.-]+/[\w.-]+)@(\w+):(.+)")

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


class CellDetails:
    """The texts and the details of cells, each once, which cells name by their numbers."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self.texts = Numbers()
        self.numbers = Numbers()
        self.claims = Numbers()
        self.texts("")
        self.claims(())

    def order(self, cells: Iterable[TableCell]) -> None:
        """Give the texts of cells numbers by what they are and by the alphabet: similar texts compress together."""
        kinds: dict[str, set[str]] = {}
        for cell in cells:
            found = {"claimed": (cell.claimed,), "observed": (observed_of(cell),)}
            for each in cell.findings[:MAX_FINDINGS]:
                found |= {"message": (each.message,), "excerpt": (each.excerpt,), "at": (each.at,)}
                _collect(kinds, found)
            if cell.claim is not None:
                found |= {"meaning": (_meaning(cell.claim),), "note": (cell.claim.note,)}
                for source in cell.claim.source:
                    _collect(kinds, {"text": (source.text,), "link": (_link(source),), "quote": (source.quote,)})
            _collect(kinds, found)
        for kind in sorted(kinds):
            self.texts.of(*sorted(kinds[kind]))

    def of_cell(self, cell: TableCell, subject: TableSubject) -> int:
        """Return the number of the details of a cell."""
        failing = cell.verdict in FAILING
        shown = cell.findings[:MAX_FINDINGS]
        about = (
            *self.texts.of(cell.claimed, observed_of(cell), cell.expected),
            self.texts.of(*cell.cases) if failing else (),
            tuple([_finding(finding, self.texts) for finding in shown]),
            len(cell.findings) - len(shown),
        )
        if cell.claim is None:
            return self.numbers((*about, 0))
        profile = self._inputs.own_profiles.get(subject.provider) if subject.mine else None
        profile = profile or self._inputs.profiles[subject.provider]
        return self.numbers((*about, self.claim(profile, cell.claim, subject.model)))

    def of_model(self, profile: Profile, name: str, model: str) -> int:
        """Return the number of the details of a claim as it holds for a model; -1 if nobody makes it."""
        claim = profile.claim(name, model)
        if claim is None:
            return -1
        value = profile.at(model).get(name)
        counted = counts(self._inputs.calibration.get(profile.name, {}), profile, name, model)
        observed = claim_evidence(profile, claim, counted, value)[2]
        about = (*self.texts.of(brief(claim.value), observed, ""), (), (), 0)
        return self.numbers((*about, self.claim(profile, claim, model)))

    def claim(self, profile: Profile, claim: Claim, model: str) -> int:
        """Return the number of a claim with its sources, those that disagree, other times, and months of recordings."""
        calibration = self._inputs.calibration.get(profile.name, {})
        about = (
            *_value(claim, _meaning(claim), self.texts),
            tuple(
                [
                    (*self.texts.of(brief(each.value), each.note), _sources([each.source], self.texts))
                    for each in claim.disagrees
                ]
            ),
            tuple([_value(each, _words(each), self.texts) for each in others_in_time(profile, claim, model)]),
            tuple([(self.texts(each.month), *each[1:]) for each in by_month(calibration, profile, claim.name, model)]),
        )
        return self.claims(about)

    def data(self) -> Mapping[str, Any]:
        """Return all texts, and the details and claims in columns; 0 stands for no claim."""
        columns = {"details": self.numbers.values(), "claims": self.claims.values()[1:]}
        return {"texts": self.texts.values(), **{name: [*zip(*rows, strict=True)] for name, rows in columns.items()}}


def cells_data(table: Table, details: CellDetails) -> Mapping[str, Any]:
    """Return the cells.

    `cells` has columns, in each a list for each row: subjects, variants, verdicts, kinds of evidence, numbers of
    checked elements, details, commands, scenarios. Subjects are steps from the one before, details distances from the
    first of the row: the cells of a row are alike, so they compress well. `commands` has those of each subject, with a
    place for a scenario or a claim.
    """
    details.order(table.cells)
    texts = details.texts
    by_name = {subject.name: subject for subject in table.subjects}
    subjects = {subject.name: number for number, subject in enumerate(table.subjects)}
    rows = {row.name: number for number, row in enumerate(table.rows)}
    verdicts = {verdict: number for number, verdict in enumerate(WORST_FIRST)}
    evidence = {kind: number for number, kind in enumerate(KINDS)}
    found: dict[str, list[tuple[int, ...]]] = {row: [] for row in rows}
    commands: dict[str, Numbers] = {subject: Numbers() for subject in subjects}
    ordered = sorted(
        table.cells, key=lambda each: (rows[each.row], each.variant, each.evidence, subjects[each.subject])
    )
    for cell in ordered:
        command, scenario = _command(cell)
        found[cell.row].append(
            (
                subjects[cell.subject],
                texts(cell.variant),
                verdicts[cell.verdict],
                evidence[cell.evidence],
                cell.judged,
                details.of_cell(cell, by_name[cell.subject]),
                commands[cell.subject](command),
                texts(scenario),
            )
        )
    return {
        "commands": [each.values() for each in commands.values()],
        "cells": [*zip(*[_columns(each) for each in found.values()], strict=True)],
    }


def _collect(kinds: dict[str, set[str]], found: Mapping[str, Iterable[str]]) -> None:
    for kind, texts in found.items():
        kinds.setdefault(kind, set()).update(texts)


def observed_of(cell: TableCell) -> str:
    """Return what was observed; of a probe that only the simulator answered, the claim is all there is to say."""
    is_played = cell.evidence == Evidence.SIMULATED and cell.row.startswith(f"{PROBES}/")
    return "" if is_played and cell.verdict not in FAILING else cell.observed


def _columns(cells: Sequence[tuple[int, ...]]) -> Sequence[Sequence[int]]:
    """Return the columns of a row's cells, of which there is at least one."""
    who, *between, details, command, scenario = zip(*cells, strict=True)
    steps = [one - before for before, one in pairwise((0, *who))]
    return [steps, *between, [each - details[0] for each in details], command, scenario, [details[0]]]


def _command(cell: TableCell) -> tuple[str, str]:
    """Return the command of a cell with a place for the scenario or claim that it names, and the scenario."""
    scenario = cell.cases[0].partition(".")[0] if cell.cases else ""
    if cell.is_claim:
        claim = cell.row.removeprefix(f"{CLAIMS}/")
        return cell.command.replace(f" {claim} ", f" {_CLAIM} "), ""
    if scenario and cell.command.endswith(f" {scenario}"):
        return f"{cell.command.removesuffix(scenario)}{_SCENARIO}", scenario
    return cell.command, ""


def _finding(finding: Finding, texts: Numbers) -> Hashable:
    refusal = finding.refusal
    answer = brief({"status": refusal.status, "message": refusal.message}) if refusal is not None else ""
    return texts.of(finding.at, finding.message, finding.level.value, finding.excerpt, finding.asked, answer)


def _value(claim: Claim, words: str, texts: Numbers) -> tuple[Hashable, ...]:
    """Return a value of a claim: in words, when it holds, how sure it is, and its sources."""
    return (
        texts(words),
        *texts.of(claim.since, claim.until, claim.versions, claim.confidence, claim.note),
        _sources(claim.source, texts),
    )


def others_in_time(profile: Profile, claim: Claim, model: str) -> tuple[Claim, ...]:
    """Return the values that a claim had at other times for the same models, the newest first."""
    sections = [each.claims for each in profile.models if each.matches(model.lower())]
    for claims in (*sections, profile.claims):
        if claim in claims.get(claim.name, ()):
            return tuple([each for each in reversed(claims[claim.name]) if each is not claim])
    return ()


def _words(claim: Claim) -> str:
    return describe(claim.name, claim.value, str)


def _meaning(claim: Claim) -> str:
    """Return a claim in words; empty if they are those of its value, which the script writes itself."""
    words, value = _words(claim), brief(claim.value)
    status, _, text = value.partition(" ")
    return "" if words in (value, f"refused with {status}{text and f': {text}'}") else words


def _sources(sources: Iterable[Source], texts: Numbers) -> Hashable:
    return tuple([texts.of(source.text, _link(source), source.read, source.quote) for source in sources])


def _link(source: Source) -> str:
    """Return the address of a source; a mark if the script makes it of the text: its own, or that of a file."""
    file = _FILE.fullmatch(source.text)
    if source.link and source.link == source.text:
        return SAME
    if file and source.link == f"https://github.com/{file[1]}/blob/{file[2]}/{file[3]}":
        return ON_GITHUB
    return source.link
