"""The published matrix as one self-contained HTML page: no network, no build step, no framework.

Text from the wire is data: it is JSON in an element that browsers do not run, and the script inserts it only as text.
The page's content security policy forbids every address, and every script and style except its own two, named by their
digests. Without scripts the page shows its subjects, and the number of cells by verdict and evidence.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import orjson

from conformance.profiles import Claim, Source
from conformance.reporting.matrix import PROBES, WORST_FIRST, brief
from conformance.reporting.matrix.headline import headline
from conformance.reporting.matrix.sentences import VERDICTS, describe
from conformance.reporting.matrix.table import CLAIMS, SOURCES, Row, Subject, Table, TableCell
from conformance.reporting.templates import render_template
from conformance.reporting.text import plural, printable
from conformance.results import Evidence, Finding

_FOLDER: Final = Path(__file__).parent / "_html"
_SCRIPTS: Final = ("data", "address", "filters", "summary", "grid", "details", "printing", "page")
"""The files of the page's one script, each after those that it needs."""

_EVIDENCE: Final = {
    Evidence.LIVE.value: ("live", "requests to a real endpoint"),
    Evidence.RECORDED.value: ("rec", "recordings of a real endpoint"),
    Evidence.ENGINE.value: ("eng", "recordings of a real open-source server with a small scripted model"),
    Evidence.SIMULATED.value: (
        "sim",
        "this project's simulator plays what a provider claims; this tests adapters and proves nothing about providers",
    ),
    SOURCES: ("src", "documents and reports only; nothing was observed"),
}


def publish(table: Table) -> Mapping[str, str]:
    """Return the file by its path."""
    return {"matrix.html": render(table)}


def render(table: Table) -> str:
    """Return the page: the numbers as HTML, and every cell with its details as data for the page's script."""
    style = (_FOLDER / "style.css").read_text("utf-8")
    script = "".join([(_FOLDER / f"{name}.js").read_text("utf-8") for name in _SCRIPTS])
    return render_template(
        "_html/page.html.j2",
        policy=f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        data=_inert(_data(table)),
        headline=headline(table).lines(),
        size=_size(table),
        counts=_counts(table),
        verdicts=[(verdict.value, *VERDICTS[verdict]) for verdict in WORST_FIRST],
        evidence=[(kind, *meaning) for kind, meaning in _EVIDENCE.items()],
        subjects=_subjects(table),
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _inert(value: Any) -> str:
    """Return JSON that cannot end an element or begin a comment, whatever its texts contain."""
    return orjson.dumps(value).decode().replace("<", "\\u003c")


def _size(table: Table) -> str:
    """Return the numbers of subjects, rows and cells."""
    kinds = Counter([subject.kind for subject in table.subjects])
    families = Counter([row.family if row.family in (PROBES, CLAIMS) else "rules" for row in table.rows])
    subjects = ", ".join([plural(number, kind) for kind, number in sorted(kinds.items())])
    rows = ", ".join([f"{families[family]} {family}" for family in ("rules", PROBES, CLAIMS)])
    return f"{subjects}; {rows}; {len(table.cells):,} cells."


def _counts(table: Table) -> Sequence[tuple[str, Sequence[int]]]:
    """Return for each kind of evidence the number of cells by verdict."""
    counted = Counter([(cell.evidence, cell.verdict) for cell in table.cells])
    rows = [(kind, [counted[kind, verdict] for verdict in WORST_FIRST]) for kind in _EVIDENCE]
    return [(kind, numbers) for kind, numbers in rows if any(numbers)]


def _subjects(table: Table) -> Sequence[tuple[Subject, Sequence[str]]]:
    """Return each subject, with the verdicts of its cells and their number for each kind of evidence."""
    counted = Counter([(cell.subject, cell.evidence, cell.verdict) for cell in table.cells])
    found = []
    for subject in table.subjects:
        columns = []
        for kind in _EVIDENCE:
            numbers = [(counted[subject.name, kind, verdict], verdict.value) for verdict in WORST_FIRST]
            columns.append(", ".join([f"{number:,} {name}" for number, name in numbers if number]))
        found.append((subject, columns))
    return found


class _Numbers:
    """Numbers values in the order in which they occur, each value once; control characters of texts are escaped."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}

    def __call__(self, value: Hashable) -> int:
        return self._known.setdefault(printable(value) if isinstance(value, str) else value, len(self._known))

    def values(self) -> Sequence[Hashable]:
        return tuple(self._known)


def _data(table: Table) -> Mapping[str, Any]:
    """Return everything that the script reads.

    `cells` has for each subject six numbers per cell: row, variant, verdict, evidence, elements checked, details. Texts
    and details are numbers into `texts` and `details`, because many cells have the same ones.
    """
    texts, details = _Numbers(), _Numbers()
    texts("")
    rows = {row.name: number for number, row in enumerate(table.rows)}
    verdicts = {verdict: number for number, verdict in enumerate(WORST_FIRST)}
    evidence = {kind: number for number, kind in enumerate(_EVIDENCE)}
    cells: dict[str, list[int]] = {subject.name: [] for subject in table.subjects}
    for cell in table.cells:
        numbers = (rows[cell.row], texts(cell.variant), verdicts[cell.verdict], evidence[cell.evidence])
        cells[cell.subject] += (*numbers, cell.judged, details(_details(cell, texts)))
    return {
        "verdicts": [_named(verdict.value, VERDICTS[verdict]) for verdict in WORST_FIRST],
        "evidence": [_named(kind, meaning) for kind, meaning in _EVIDENCE.items()],
        "subjects": [_subject(subject) for subject in table.subjects],
        "rows": [_row(row, rows) for row in table.rows],
        "texts": texts.values(),
        "details": details.values(),
        "cells": list(cells.values()),
    }


def _named(name: str, meaning: tuple[str, str]) -> Mapping[str, str]:
    return {"name": name, "short": meaning[0], "text": meaning[1]}


def _subject(subject: Subject) -> Mapping[str, Any]:
    shown = {name: printable(getattr(subject, name)) for name in ("name", "title", "kind", "provider", "model")}
    return shown | {"versions": [printable(f"{name} {version}") for name, version in sorted(subject.versions.items())]}


def _row(row: Row, known: Container[str]) -> Mapping[str, Any]:
    """Return a row, with those of the claims that it reads which have a row themselves."""
    shown = {name: printable(getattr(row, name)) for name in ("family", "name", "title", "level", "side")}
    claims = [f"{CLAIMS}/{name}" for name in row.claims]
    return {**shown, "claims": [name for name in claims if name in known]}


def _details(cell: TableCell, texts: _Numbers) -> Hashable:
    return (
        *_numbers(texts, cell.claimed, cell.observed, cell.expected, cell.command),
        _numbers(texts, *cell.cases),
        tuple([_finding(finding, texts) for finding in cell.findings]),
        _claim(cell.claim, texts) if cell.claim is not None else 0,
    )


def _numbers(texts: _Numbers, *values: str) -> tuple[int, ...]:
    return tuple([texts(value) for value in values])


def _finding(finding: Finding, texts: _Numbers) -> Hashable:
    refusal = finding.refusal
    answer = brief({"status": refusal.status, "message": refusal.message}) if refusal is not None else ""
    return _numbers(texts, finding.at, finding.message, finding.level.value, finding.excerpt, finding.asked, answer)


def _claim(claim: Claim, texts: _Numbers) -> Hashable:
    return (
        texts(describe(claim.name, claim.value, str)),
        *_numbers(texts, claim.since, claim.until, claim.versions, claim.confidence, claim.note),
        _sources(claim.source, texts),
        tuple(
            [
                (*_numbers(texts, brief(each.value), each.note), _sources([each.source], texts))
                for each in claim.disagrees
            ]
        ),
    )


def _sources(sources: Iterable[Source], texts: _Numbers) -> Hashable:
    return tuple([_numbers(texts, source.text, source.link, source.read, source.quote) for source in sources])
