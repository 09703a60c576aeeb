"""What the page's script reads at its start: subjects, rows, changes, and requests to copy."""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance import rules
from conformance.adapters import loop
from conformance.adapters.timeline import Timeline
from conformance.broken_clients import of_rule
from conformance.core_facts import DEFINITIONS
from conformance.reporting.answers import SENT
from conformance.reporting.answers.adapters import LOSING
from conformance.reporting.answers.changes import changes, newest_day
from conformance.reporting.answers.wires import titles
from conformance.reporting.matrix import WORST_FIRST
from conformance.reporting.matrix.difference import difference
from conformance.reporting.matrix.sentences import VERDICTS
from conformance.reporting.matrix.table import ADAPTER, CLAIMS, Table, TableRow, TableSubject
from conformance.reporting.page import adapter_page
from conformance.reporting.page.cells import KINDS
from conformance.reporting.page.facts import EVIDENCE
from conformance.reporting.provider_facts import requests
from conformance.reporting.text import printable
from conformance.results.runs import MINE
from conformance.rules import advice

MAX_LISTED: Final = 100
"""How many checks of a kind are listed that differ from an earlier run; the others are counted."""

GRADE_LETTERS: Final = {"fails": "F", "warns": "w", "keeps": ".", "differs": ".", "untested": "?", "errored": "E"}
"""A letter for what a release does with a rule."""

_OF_SUBJECT: Final = ("name", "title", "kind", "provider", "model", "service", "wire")

PLAIN_VERDICTS: Final[Mapping[str, str]] = {
    "errored": "our check failed",
    "breaks": "fails",
    "untested": "not tested",
    "departs": "differs",
    "unknown": "unknown",
    "conforms": "passes",
    "declared": "not observed",
}
"""The verdicts in words that need no legend."""


def index_data(table: Table) -> Mapping[str, Any]:
    """Return what the script needs before a reader opens anything."""
    known = {row.name for row in table.rows}
    docs = {each.id: each.doc for each in rules.of_traffic()} | {each.id: each.doc for each in loop.load()}
    fixes = {name: advice(doc)[1] for name, doc in docs.items()}
    return {
        "day": newest_day(table.inputs.profiles),
        "verdicts": [_verdict(verdict.value, *VERDICTS[verdict]) for verdict in WORST_FIRST],
        "evidence": [_evidence(kind, *EVIDENCE[kind]) for kind in KINDS],
        "sent": _evidence(SENT, *EVIDENCE[SENT]),
        "wires": titles(),
        "subjects": [_subject(subject) for subject in table.subjects],
        "rows": [_row(row, known, fixes.get(row.name, "")) for row in table.rows],
        "marks": [mark for mark, _, _ in EVIDENCE.values()],
        "core": [name for each in DEFINITIONS for name in each.claims],
        "losing": list(LOSING),
        "timelines": _timelines(table),
        "changes": _changes(table),
        "earlier": _earlier(table),
    }


def requests_data(table: Table) -> Mapping[str, Sequence[Sequence[str]]]:
    """Return the second requests of each provider: what each follows, and its JSON text."""
    shown = {subject.provider for subject in table.subjects}
    by_name = {**table.inputs.own_profiles, **table.inputs.profiles}
    return {name: [*map(list, requests(by_name[name]))] for name in sorted(shown)}


def _verdict(name: str, mark: str, text: str) -> Mapping[str, str]:
    return {"name": name, "mark": mark, "word": PLAIN_VERDICTS[name], "text": text}


def _evidence(name: str, mark: str, word: str, text: str) -> Mapping[str, str]:
    return {"name": name, "mark": mark, "word": word, "text": text}


def _subject(subject: TableSubject) -> Mapping[str, Any]:
    shown = {name: printable(getattr(subject, name)) for name in _OF_SUBJECT}
    versions = [printable(f"{name} {version}") for name, version in sorted(subject.versions.items())]
    page = {"page": adapter_page(subject.name)} if subject.kind == ADAPTER else {}
    is_main = subject.name in _main_names(subject.provider)
    true = {name: True for name, holds in (("mine", subject.mine), ("main", is_main)) if holds}
    return shown | {"versions": versions} | true | page


def _main_names(provider: str) -> tuple[str, str]:
    """Return the names of subjects that stand for a provider, and not for an adapter or a further model."""
    return provider, f"{provider} ({MINE})"


def _row(row: TableRow, known: Container[str], fix: str) -> Mapping[str, Any]:
    """Return a row, with those of the claims that it reads which have a row themselves."""
    shown = {name: printable(getattr(row, name)) for name in ("family", "name", "title", "level", "side")}
    claims = [f"{CLAIMS}/{name}" for name in row.claims]
    broken = of_rule(row.name)
    harm = {"harm": broken.text} if broken and broken.broken else {}
    return {**shown, "claims": [name for name in claims if name in known], "fix": " ".join(fix.split()), **harm}


def _timelines(table: Table) -> Sequence[Mapping[str, Any]]:
    """Return the releases of adapters that were run: by rule a letter for each, and a text that sums it up."""
    rows = {row.name: number for number, row in enumerate(table.rows)}
    return [
        {
            "adapter": printable(each.adapter),
            "provider": printable(each.provider),
            "releases": [[printable(run["version"]), run["date"]] for run in each.releases if not run["skipped"]],
            "rules": [
                _released(rows[rule["rule"]], each, rule, text) for rule, text in _texts(each) if rule["rule"] in rows
            ],
        }
        for each in table.inputs.timelines
    ]


def _texts(each: Timeline) -> Iterator[tuple[Mapping[str, Any], str]]:
    texts = dict(each.lines())
    yield from [(rule, texts[rule["rule"]]) for rule in each.rules]


def _released(row: int, each: Timeline, rule: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    run = [one["version"] for one in each.releases if not one["skipped"]]
    grades = "".join([GRADE_LETTERS.get(rule["grades"].get(version, ""), "-") for version in run])
    return {"row": row, "grades": grades, "text": printable(text)}


def _changes(table: Table) -> Sequence[Sequence[str]]:
    """Return the dated changes of providers: day, provider, claim or `model`, model, before, after."""
    return [
        [printable(text) for text in (each.day, each.provider, each.what, each.model, each.before, each.after)]
        for each in changes(table.inputs.profiles)
    ]


def _earlier(table: Table) -> Mapping[str, Any] | None:
    """Return how the results differ from those of an earlier run; None if there is no earlier run."""
    if not table.inputs.earlier:
        return None
    found = difference(table.inputs.earlier, table.inputs.results)
    kinds = {"broken": found.broken, "fixed": found.fixed, "added": found.added, "removed": found.removed}
    return {
        name: {"total": len(listed), "names": [printable(each.names[0]) for each in listed[:MAX_LISTED]]}
        for name, listed in kinds.items()
    }
