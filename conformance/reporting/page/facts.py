"""The core facts as the page's first table: a row per subject; in each cell a value, its meaning and its evidence."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Final
from urllib.parse import quote

from conformance.adapters import definition
from conformance.reporting.answers import (
    ASSUMED,
    EVIDENCE_WORDS,
    SENT,
    Answers,
    Meaning,
    Question,
    SubjectAnswer,
    adapters,
    gateways,
    providers,
)
from conformance.reporting.answers.changes import newest_day
from conformance.reporting.answers.wires import position
from conformance.reporting.gateway_cells import by_gateway
from conformance.reporting.matrix.table import ADAPTER, ENGINE, SOURCES, Table, TableSubject
from conformance.reporting.text import plural, printable
from conformance.results import Evidence
from conformance.wire.native import CHAT

MEANINGS: Final[Mapping[Meaning, tuple[str, str]]] = {
    Meaning.BREAKS: ("✗", "an agent loop fails, or its content is lost or changed"),
    Meaning.BEWARE: ("!", "it works if you handle it: another field, some models, or rare cases"),
    Meaning.WORKS: ("✓", "the canonical wire works as it is"),
    Meaning.UNKNOWN: ("?", "no source and no test; handle it as if it broke"),
}
"""The mark of each meaning, and what it says."""

EVIDENCE: Final[Mapping[str, tuple[str, str, str]]] = {
    Evidence.LIVE.value: ("◆", EVIDENCE_WORDS[Evidence.LIVE.value], "requests to the real endpoint"),
    Evidence.RECORDED.value: (
        "●",
        EVIDENCE_WORDS[Evidence.RECORDED.value],
        "seen in recordings of the real endpoint, in as many as the number says",
    ),
    Evidence.ENGINE.value: (
        "■",
        EVIDENCE_WORDS[Evidence.ENGINE.value],
        "the real open-source server was run with a small scripted model",
    ),
    SENT: ("▲", EVIDENCE_WORDS[SENT], "requests that the SDK really sent, to a simulated provider"),
    Evidence.SIMULATED.value: (
        "△",
        EVIDENCE_WORDS[Evidence.SIMULATED.value],
        "this project's simulator plays what is claimed, which proves nothing about the provider",
    ),
    SOURCES: ("○", EVIDENCE_WORDS[SOURCES], "documents, issues or source code say so; nobody here observed it"),
    ASSUMED: ("–", EVIDENCE_WORDS[ASSUMED], "nobody claims otherwise, so the canonical wire is assumed"),
    "": ("?", EVIDENCE_WORDS[""], "nothing was found; the day is that of the search"),
}
"""The mark of each kind of evidence, its word in a cell, and what it says; the strongest first."""


GATEWAYS: Final = "gateways"
"""The kind of a row about a gateway, which is no subject of the matrix."""

GATEWAYS_PAGE: Final = "gateways.html"
"""The page beside this one that has all facts about gateways, with the four bodies of each cell."""

_AGING: Final = 90
_OLD: Final = 365

_KINDS: Final = ("vendor", "host", "gateway", ENGINE, "specification")
"""The kinds of providers in the order of the table."""


@dataclass(frozen=True, slots=True)
class FactCell:
    """A cell: the value, notes, the mark and words of its evidence, and the address of its details in the page.

    `fade` is how old what it rests on is: empty, `aging` after 90 days, `old` after a year.
    """

    value: str
    meaning: Meaning
    mark: str
    notes: Sequence[str]
    evidence_mark: str
    evidence: str
    address: str
    fade: str = ""
    contested: bool = False


@dataclass(frozen=True, slots=True)
class FactRow:
    """A row: a subject, for an adapter the provider that it is `on`, what else is said about it, and its cells.

    `wire` is the wire's name if the name of the row and its neighbours do not make it clear: of a provider with several
    wires, and of one without chat completions.
    """

    subject: TableSubject
    wire: str
    name: str
    on: str
    about: str
    address: str
    cells: Sequence[FactCell]
    service: str = ""


@dataclass(frozen=True, slots=True)
class FactTable:
    """One of the tables: providers by core facts, adapters by what they send back, gateways by what they keep."""

    name: str
    title: str
    head: str
    questions: Sequence[Question]
    rows: Sequence[FactRow]


def fact_tables(table: Table) -> tuple[FactTable, ...]:
    """Return the tables of providers and of SDKs, and those of agents and of gateways if there are any."""
    today = newest_day(table.inputs.profiles)
    by_name = {subject.name: subject for subject in table.subjects}
    known = {(cell.subject, cell.row) for cell in table.cells}
    several = {subject.service for subject in table.subjects if subject.wire != CHAT}

    def rows(many: Iterable[Answers]) -> tuple[FactRow, ...]:
        named = [(each, by_name[each.subject]) for each in many]
        return tuple([_row(each, of, known, today, has_wires=of.service in several) for each, of in named])

    clients = sorted(rows(adapters.adapter_answers(table.inputs)), key=lambda row: not row.subject.mine)
    named = agents()
    sdks = [row for row in clients if row.subject.name.partition("@")[0] not in named]
    others = [row for row in clients if row.subject.name.partition("@")[0] in named]
    numbers = {name: number for number, name in enumerate(by_gateway(table.inputs.gateways))}
    through = [
        _gateway_row(each, table, today, f"{GATEWAYS_PAGE}#gateway-{numbers[each.gateway]}")
        for each in gateways.gateway_answers(table.inputs)
    ]
    found = (
        FactTable(
            "providers",
            "What providers do",
            "Provider",
            providers.QUESTIONS,
            _ordered(rows(providers.provider_answers(table.inputs))),
        ),
        FactTable("adapters", "What SDKs and agent loops send back", "SDK on provider", adapters.QUESTIONS, sdks),
        FactTable("agents", "What whole agents send back", "Agent on provider", adapters.QUESTIONS, others),
        FactTable("gateways", "What gateways keep", "Gateway before provider", gateways.QUESTIONS, through),
    )
    return tuple([each for each in found if each.rows or each.name in ("providers", "adapters")])


@cache
def agents() -> frozenset[str]:
    """Return the names of the adapters that are whole agents."""
    return frozenset([name for name in definition.names() if definition.load(name).agent])


def _gateway_row(each: gateways.GatewayAnswers, table: Table, today: str, link: str) -> FactRow:
    """Return the row of a gateway at one front before one back; the page of gateways has its details."""
    results = each.results
    back = table.inputs.profiles.get(results.provider)
    titled = back.title if back else results.provider
    service = back.service if back else results.provider
    subject = TableSubject(
        results.name, each.gateway, GATEWAYS, results.provider, results.model, wire=results.run.protocol or CHAT
    )
    cells = tuple([_cell(answer, subject, set(), today) for answer in each.answers])
    front = f"{results.run.protocol or CHAT} → {results.provider}"
    return FactRow(subject, "", printable(each.gateway), printable(titled), front, link, cells, service)


def _ordered(rows: Sequence[FactRow]) -> Sequence[FactRow]:
    """Return the rows of providers: a user's own, then by kind, those of which most is known first; models last.

    The wires of a provider stand together, where the one stands of which most is known.
    """
    unknown: dict[tuple[bool, bool, str], int] = {}
    for row in rows:
        group = _group(row)
        unknown[group] = min(unknown.get(group, len(row.cells)), _unknown(row))

    def order(row: FactRow) -> tuple[bool, bool, int, int, str, int]:
        subject, group = row.subject, _group(row)
        kind = -1 if subject.mine else _KINDS.index(subject.kind)
        return not subject.mine, group[1], kind, unknown[group], subject.service, position(subject.wire)

    return sorted(rows, key=order)


def _group(row: FactRow) -> tuple[bool, bool, str]:
    subject = row.subject
    is_further = not subject.mine and subject.name != subject.provider
    return subject.mine, is_further, subject.name if is_further else subject.service


def _unknown(row: FactRow) -> int:
    return sum(cell.meaning is Meaning.UNKNOWN for cell in row.cells)


def _row(
    answers: Answers, subject: TableSubject, known: set[tuple[str, str]], today: str, *, has_wires: bool
) -> FactRow:
    cells = tuple([_cell(each, subject, known, today) for each in answers.answers])
    if subject.kind == ADAPTER:
        name, _, on = subject.name.partition("/")
        on = subject.service + on.removeprefix(subject.provider)
        wire, about = "" if subject.wire == CHAT else subject.wire, ("", "")
    else:
        further = subject.name.removeprefix(subject.provider)
        name, on = f"{subject.provider_title}{further.replace(':', ' · ', 1)}", ""
        wire = subject.wire if has_wires else ""
        about = (subject.service + subject.name.removeprefix(subject.provider), subject.kind)
    small = " · ".join([printable(text) for text in (*about, subject.model) if text])
    return FactRow(
        subject, wire, printable(name), printable(on), small, address("of", subject.name), cells, subject.service
    )


def _cell(answer: SubjectAnswer, subject: TableSubject, known: set[tuple[str, str]], today: str) -> FactCell:
    holder = subject.name if (subject.name, answer.row) in known else subject.provider
    link = address("cell", holder, answer.row) if (holder, answer.row) in known else ""
    return FactCell(
        printable(answer.value),
        answer.meaning,
        MEANINGS[answer.meaning][0],
        [printable(note) for note in answer.notes],
        EVIDENCE[answer.evidence][0],
        words_of(answer, today),
        link,
        fade(answer.seen or answer.read, today),
        answer.contested,
    )


def words_of(answer: SubjectAnswer, today: str) -> str:
    """Return the words of a cell's evidence, empty if nothing was looked for."""
    return " · ".join(_words(answer, EVIDENCE[answer.evidence][1], today)) if answer.row or answer.evidence else ""


def _words(answer: SubjectAnswer, word: str, today: str) -> Iterator[str]:
    """Yield the words of a cell's evidence: its kind with a number, and the last observation or reading."""
    yield f"{answer.count:,} {word}" if answer.count and answer.evidence == Evidence.RECORDED else word
    if answer.seen:
        on = f" on {printable(answer.seen_model)}" if answer.seen_model else ""
        yield f"last {age(answer.seen, today)}{on}"
    elif answer.read:
        yield age(answer.read, today)
    elif answer.evidence in (SOURCES, Evidence.RECORDED):
        yield "undated"


def age(day: str, today: str) -> str:
    """Return a day (a prefix of ISO 8601) as a reader sees its age: `Nov 20` in the same year, else `Nov 2025`."""
    if len(day) < len("2026-11"):
        return day
    month = date(2000, int(day[5:7]), 1).strftime("%b")
    same_year = day[:4] == today[:4] and len(day) == len("2026-11-20")
    return f"{month} {int(day[8:])}" if same_year else f"{month} {day[:4]}"


def fade(day: str, today: str) -> str:
    """Return how old a day is beside another: empty, `aging` after 90 days, `old` after a year.

    What has no day, such as what an SDK sent, says nothing of its age.
    """
    if not day or not today:
        return ""
    days = (_date(today) - _date(day)).days
    return "old" if days > _OLD else "aging" if days > _AGING else ""


def _date(day: str) -> date:
    """Return a date; a month or a year counts as its first day."""
    return date(*map(int, [*day.split("-"), "1", "1"][:3]))


def address(*path: str) -> str:
    """Return an address within the page."""
    return "#/" + "/".join([quote(part, safe="") for part in path])


def summary(table: Table) -> str:
    """Return the number of subjects in a line."""
    rows = [each.kind == ADAPTER for each in table.subjects]
    providers_shown = len({each.service for each in table.subjects if each.kind != ADAPTER})
    sdks = len({each.name.partition("/")[0] for each in table.subjects if each.kind == ADAPTER})
    return f"{plural(providers_shown, 'provider')}, {plural(sdks, 'SDK')} in {plural(sum(rows), 'pairing')}"
