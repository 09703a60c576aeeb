"""The published matrix as JSON for other programs; `schemas/files/matrix.json` describes it."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, Final

import orjson

from conformance.profiles import Claim, Source
from conformance.reporting.matrix.headline import headline
from conformance.reporting.matrix.table import FAILING, Table, TableCell, TableRow, TableSubject
from conformance.results import Evidence, Finding, Verdict

_SCHEMA: Final = "https://wire-conformance.example/schemas/files/matrix.json"
_OF_SUBJECT: Final = ("name", "title", "kind", "provider", "model", "service", "wire")
_MAX_FINDINGS: Final = 5
"""How many findings of a cell are shown; the others are counted."""


def publish(table: Table) -> Mapping[str, str]:
    """Return the file by its path."""
    return {"matrix.json": render(table)}


def render(table: Table) -> str:
    """Return the whole table: a line per subject, per row, and per row of a subject's cells."""
    lines = [f'{{"$schema": {_text(_SCHEMA)},', f'"headline": {_text(headline(table).to_json())},', '"subjects": [']
    lines += _listed([_text(_subject(each)) for each in table.subjects])
    lines += ["],", '"rows": [', *_listed([_text(_row(each)) for each in table.rows]), "],", '"cells": {']
    by_subject = [(name, list(cells)) for name, cells in groupby(table.cells, key=lambda cell: cell.subject)]
    for number, (name, cells) in enumerate(by_subject, 1):
        by_row = [(row, list(group)) for row, group in groupby(cells, key=lambda cell: cell.row)]
        shown = [f"{_text(row)}: {_text([_cell(cell) for cell in group])}" for row, group in by_row]
        lines += [f"{_text(name)}: {{", *_listed(shown), "}," if number < len(by_subject) else "}"]
    return "\n".join([*lines, "}}", ""])


def _subject(subject: TableSubject) -> dict[str, Any]:
    shown: dict[str, Any] = {name: getattr(subject, name) for name in _OF_SUBJECT}
    shown |= {"versions": dict(subject.versions)} if subject.versions else {}
    return shown | ({"mine": True} if subject.mine else {})


def _row(row: TableRow) -> dict[str, Any]:
    return _present({name: getattr(row, name) for name in ("family", "name", "title", "level", "side", "claims")})


def _cell(cell: TableCell) -> dict[str, Any]:
    shown: dict[str, Any] = {"variant": cell.variant, "verdict": cell.verdict.value, "evidence": cell.evidence}
    if cell.verdict is Verdict.UNKNOWN and cell.evidence == Evidence.SIMULATED:
        # Without a claim, the simulator's behaviour says nothing about the provider.
        return _present(shown)
    shown |= {"claimed": "" if cell.claim else cell.claimed, "observed": cell.observed, "judged": cell.judged}
    if cell.claim is not None:
        shown["claim"] = _claim(cell.claim)
    if cell.verdict in FAILING:
        shown |= {"expected": cell.expected, "cases": list(cell.cases), "again": cell.command}
        shown |= {"findings": [_finding(each) for each in cell.findings[:_MAX_FINDINGS]]}
        shown["more"] = max(0, len(cell.findings) - _MAX_FINDINGS)
    return _present(shown)


def _claim(claim: Claim) -> dict[str, Any]:
    shown: dict[str, Any] = {"value": claim.value, "confidence": claim.confidence}
    details = {name: getattr(claim, name) for name in ("since", "until", "versions", "note")}
    disagrees = [
        _present({"value": each.value, "source": _source(each.source), "note": each.note}) for each in claim.disagrees
    ]
    more = {"sources": [_source(each) for each in claim.source], "disagrees": disagrees}
    return shown | _present(details) | _present(more)


def _source(source: Source) -> dict[str, Any]:
    return _present({"text": source.text, "url": source.link, "read": source.read, "quote": source.quote})


def _finding(finding: Finding) -> dict[str, Any]:
    shown: dict[str, Any] = {"at": finding.at, "message": finding.message, "level": finding.level.value}
    if finding.refusal is not None:
        members = {name: getattr(finding.refusal, name) for name in ("status", "message", "type", "code", "param")}
        shown["refusal"] = {name: value for name, value in members.items() if value is not None}
    return shown | _present({"excerpt": finding.excerpt, "asked": finding.asked})


def _present(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that are not empty."""
    return {name: value for name, value in members.items() if value or value is False}


def _listed(texts: Iterable[str]) -> list[str]:
    found = list(texts)
    return [*(f"{text}," for text in found[:-1]), *found[-1:]]


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()
