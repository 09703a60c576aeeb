"""All rules and loop facts as a page of Markdown: what they require, why, an example, and who breaks them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from conformance import rules
from conformance.adapters import loop
from conformance.adapters.loop import Fact
from conformance.broken_clients import BrokenClients, of_rule
from conformance.reporting.matrix.table import Table
from conformance.reporting.templates import render_template
from conformance.reporting.text import prose, shorten
from conformance.results import Verdict
from conformance.rules import Example, Rule, advice

_WIDTH: Final = 160
_FAILING: Final = {
    Verdict.BREAKS: "Broken by",
    Verdict.DEPARTS: "Not followed by",
    Verdict.UNTESTED: "Not tested for",
}


class _Entry(NamedTuple):
    """A rule or loop fact with what the page shows of it; `claims` are those that it reads, except `refused`."""

    rule: Rule | Fact
    side: str
    why: Sequence[str]
    fix: str
    claims: Sequence[str]
    refused: str
    base: str
    example: Sequence[str]
    failing: Sequence[tuple[str, Sequence[str]]]
    broken: BrokenClients | None


def publish(table: Table) -> Mapping[str, str]:
    """Return the file by its path."""
    return {"rules.md": render(table, [*rules.of_traffic(), *loop.load()])}


def render(table: Table, listed: Iterable[Rule | Fact], broken: Callable[[str], BrokenClients | None] = of_rule) -> str:
    """Return the page: a list of all, then each with its family; `broken` returns the clients that a rule breaks."""
    failing = _failing(table)
    families: dict[str, list[_Entry]] = {}
    overview = []
    for rule in listed:
        families.setdefault(rule.id.partition("/")[0], []).append(
            _entry(rule, failing.get(rule.id, ()), broken(rule.id))
        )
        name = f"[{rule.id}](#{_anchor(rule.id)})"
        overview.append([name, rule.level.value, _side(rule), prose(rule.title)])
    return render_template("_markdown/rules.md.j2", results=bool(table.cells), overview=overview, families=families)


def _failing(table: Table) -> Mapping[str, Sequence[tuple[str, Sequence[str]]]]:
    """Return the subjects that fail a rule, by its id and a heading, the worst first."""
    found: dict[str, list[tuple[str, Sequence[str]]]] = {}
    for verdict, heading in _FAILING.items():
        subjects: dict[str, dict[str, None]] = {}
        for cell in table.cells:
            if cell.verdict is verdict:
                subjects.setdefault(cell.row, {})[cell.subject] = None
        for row, names in subjects.items():
            found.setdefault(row, []).append((heading, list(names)))
    return found


def _entry(rule: Rule | Fact, failing: Sequence[tuple[str, Sequence[str]]], broken: BrokenClients | None) -> _Entry:
    why, fix = advice(rule.doc)
    claims, refused, base, example = [], "", "", []
    if isinstance(rule, Rule):
        claims, refused = [name for name in rule.reads if name != rule.claim], rule.claim or ""
        base, example = rule.bad[0].base, list(_example(rule.bad[0]))
    paragraphs = [paragraph for paragraph in why.split("\n\n") if paragraph]
    return _Entry(rule, _side(rule), paragraphs, fix, claims, refused, base, example, failing, broken)


def _example(example: Example) -> Iterator[str]:
    for sign, pointer, value in example.difference():
        yield f"{sign} {pointer}: {_json(value)}"
    for name, value in example.claims.items():
        yield f"  if the provider claims {name}: {_json(value)}"


def _json(value: Any) -> str:
    return shorten(orjson.dumps(value).decode(), _WIDTH)


def _side(rule: Rule | Fact) -> str:
    return rule.on.side.value if isinstance(rule, Rule) else "agent loop"


def _anchor(name: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-")
