"""The published matrix as one HTML page that carries all that it shows: no network, no build step, no framework.

What came over the wire is data: it stands as JSON in an element that no browser runs, and is put into the page as text.
The page's own policy forbids every address, and every script and style but its own two, named by their digests.
Without scripts it says who was judged, what the cells say in numbers, and on what evidence.
"""

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template
from typing import Any, Final

import orjson

from conformance.profiles import Claim, Source
from conformance.reporting.matrix import PROBES, WORST_FIRST, Verdict, words
from conformance.reporting.matrix.headline import headline
from conformance.reporting.matrix.sentences import VERDICTS, meaning
from conformance.reporting.matrix.table import CLAIMS, SOURCES, Entered, Row, Subject, Table
from conformance.reporting.text import printable
from conformance.results import Evidence, Finding

_FOLDER: Final = Path(__file__).parent / "_html"
_SCRIPTS: Final = ("data", "address", "filters", "summary", "grid", "details", "printing", "page")
"""The parts of the page's one script, in the order in which they need each other."""

_EVIDENCE: Final = {
    Evidence.LIVE.value: ("live", "a real endpoint was asked"),
    Evidence.RECORDED.value: ("rec", "recordings of a real endpoint"),
    Evidence.ENGINE.value: ("eng", "recordings of a real open-source server with a small scripted model"),
    Evidence.SIMULATED.value: (
        "sim",
        "this project's own simulator played what is claimed of a provider: it tests an adapter, and no provider",
    ),
    SOURCES: ("src", "documents and reports that say so; nothing was observed"),
}


def publish(table: Table) -> Mapping[str, str]:
    """Return the file, by its path."""
    return {"matrix.html": render(table)}


def render(table: Table) -> str:
    """Return the page: the numbers as plain HTML, and every cell with its details as data for the page's script."""
    style = _part("style.css")
    script = "".join([_part(f"{name}.js") for name in _SCRIPTS])
    return Template(_part("page.html")).substitute(
        policy=f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        headline=_headline(table),
        size=_size(table),
        counts=_counts(table),
        verdicts=_legend({verdict.value: VERDICTS[verdict] for verdict in WORST_FIRST}),
        evidence=_legend(_EVIDENCE),
        subjects="\n".join([_standing(table, subject) for subject in table.subjects]),
        kinds="".join([f'<th scope="col">{name}</th>' for name in _EVIDENCE]),
        data=_inert(_data(table)),
    )


def _part(name: str) -> str:
    return (_FOLDER / name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _inert(value: Any) -> str:
    """Return JSON that ends no element and begins no comment, whatever its texts say."""
    return orjson.dumps(value).decode().replace("<", "\\u003c")


def _headline(table: Table) -> str:
    """Return the headline as items of a list; its sentences are Markdown with nothing in it but words in bold."""
    lines = [escape(printable(line)) for line in headline(table).lines()]
    return "\n".join(["<li>" + re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", line) + "</li>" for line in lines])


def _size(table: Table) -> str:
    """Return who is judged and by what, in numbers."""
    kinds = Counter([subject.kind for subject in table.subjects])
    families = Counter([row.family if row.family in (PROBES, CLAIMS) else "rules" for row in table.rows])
    who = ", ".join([f"{count} {escape(kind)}{'s' if count > 1 else ''}" for kind, count in sorted(kinds.items())])
    rows = ", ".join([f"{families[family]} {family}" for family in ("rules", PROBES, CLAIMS)])
    return f"{who}; {rows}; {len(table.cells):,} cells."


def _counts(table: Table) -> str:
    """Return rows of a table: kinds of evidence by verdicts, with the number of cells."""
    counted = Counter([(cell.evidence, cell.verdict) for cell in table.cells])
    shown = [kind for kind in _EVIDENCE if any(counted[kind, verdict] for verdict in Verdict)]
    head = "".join([f'<th scope="col">{_symbol(verdict)} {verdict.value}</th>' for verdict in WORST_FIRST])
    body = [
        f'<tr><th scope="row">{kind}</th>'
        + "".join([f"<td>{counted[kind, verdict]:,}</td>" for verdict in WORST_FIRST])
        + "</tr>"
        for kind in shown
    ]
    return f'<thead><tr><th scope="col">Evidence</th>{head}</tr></thead>\n<tbody>\n' + "\n".join(body) + "\n</tbody>"


def _symbol(verdict: Verdict) -> str:
    return f'<span class="{verdict.value}" aria-hidden="true">{VERDICTS[verdict][0]}</span>'


def _legend(meanings: Mapping[str, tuple[str, str]]) -> str:
    return "\n".join(
        [
            f'<div><dt><span class="{name} mark" aria-hidden="true">{short}</span> {name}</dt><dd>{text}</dd></div>'
            for name, (short, text) in meanings.items()
        ]
    )


def _standing(table: Table, subject: Subject) -> str:
    """Return the row of a subject: who it is, and by kind of evidence how many of its cells say what."""
    counted = table.verdicts(subject.name)
    columns = []
    for kind in _EVIDENCE:
        each = [f"{counted[verdict, kind]:,} {verdict.value}" for verdict in WORST_FIRST if (verdict, kind) in counted]
        columns.append(f"<td>{', '.join(each)}</td>")
    who = f"{escape(printable(subject.name))} <small>{escape(printable(subject.title))}</small>"
    about = "".join([f"<td>{escape(printable(text))}</td>" for text in (subject.kind, subject.model)])
    return f'<tr><th scope="row">{who}</th>{about}{"".join(columns)}</tr>'


class _Numbers:
    """Values by number, each held once, in the order in which they were met; texts without control characters."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}

    def __call__(self, value: Hashable) -> int:
        return self._known.setdefault(printable(value) if isinstance(value, str) else value, len(self._known))

    def values(self) -> Sequence[Hashable]:
        return tuple(self._known)


def _data(table: Table) -> Mapping[str, Any]:
    """Return everything as the script reads it.

    `cells` holds for each subject six numbers a cell: row, variant, verdict, evidence, parts judged, details. Texts
    inside of details are numbers of `texts`; both are held once, since most cells say the same as many others.
    """
    texts, details = _Numbers(), _Numbers()
    texts("")
    rows = {row.name: number for number, row in enumerate(table.rows)}
    verdicts = {verdict: number for number, verdict in enumerate(WORST_FIRST)}
    evidence = {kind: number for number, kind in enumerate(_EVIDENCE)}
    cells: dict[str, list[int]] = {subject.name: [] for subject in table.subjects}
    for cell in table.cells:
        place = (rows[cell.row], texts(cell.variant), verdicts[cell.verdict], evidence[cell.evidence])
        cells[cell.subject] += (*place, cell.judged, details(_details(cell, texts)))
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
    """Return a row, with those of the claims it goes by that anybody makes; the others have no row to lead to."""
    shown = {name: printable(getattr(row, name)) for name in ("family", "name", "title", "level", "side")}
    claims = [f"{CLAIMS}/{name}" for name in row.claims]
    return {**shown, "claims": [name for name in claims if name in known]}


def _details(cell: Entered, texts: _Numbers) -> Hashable:
    return (
        *_numbers(texts, cell.claimed, cell.observed, cell.expected, cell.again),
        _numbers(texts, *cell.cases),
        tuple([_finding(finding, texts) for finding in cell.findings]),
        _claim(cell.claim, texts) if cell.claim is not None else 0,
    )


def _numbers(texts: _Numbers, *values: str) -> tuple[int, ...]:
    return tuple([texts(value) for value in values])


def _finding(finding: Finding, texts: _Numbers) -> Hashable:
    refusal = finding.refusal
    answer = words({"status": refusal.status, "message": refusal.message}) if refusal is not None else ""
    return _numbers(texts, finding.at, finding.message, finding.level.value, finding.excerpt, finding.asked, answer)


def _claim(claim: Claim, texts: _Numbers) -> Hashable:
    return (
        texts(meaning(claim.name, claim.value, str)),
        *_numbers(texts, claim.since, claim.until, claim.versions, claim.confidence, claim.note),
        _sources(claim.source, texts),
        tuple(
            [
                (*_numbers(texts, words(each.value), each.note), _sources([each.source], texts))
                for each in claim.disagrees
            ]
        ),
    )


def _sources(sources: Iterable[Source], texts: _Numbers) -> Hashable:
    return tuple([_numbers(texts, *source) for source in sources])
