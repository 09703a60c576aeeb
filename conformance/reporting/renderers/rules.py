"""Every rule and every fact about loops as a page of Markdown: what it demands, why, an example, and who breaks it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import orjson

from conformance import rules
from conformance.adapters import loop
from conformance.adapters.loop import Fact
from conformance.documents import read_json
from conformance.documents.pointer import REMOVE, resolve
from conformance.reporting.matrix import Verdict
from conformance.reporting.matrix.table import Table
from conformance.reporting.text import code, cut, prose, rows
from conformance.resources import folder
from conformance.rules import Example, Rule, advice

_WIDTH: Final = 160
_BROKEN: Final = {Verdict.BREAKS: "breaks it", Verdict.DEPARTS: "departs from it", Verdict.UNTESTED: "was not tested"}
_ABOUT: Final = """\
# Rules

What is judged, by family. MUST, SHOULD and MAY are the keyword of the source, for the canonical wire; with a provider a
breach weighs MUST where that provider is known to refuse it or to come to harm, and SHOULD at most where it is known to
bear it. An example is an edit of a valid conversation in `fixtures/wire/` that breaks the rule and no other. Who breaks
a rule is from what was observed; a provider of which it is declared alone is not named.
"""


def publish(table: Table) -> Mapping[str, str]:
    """Return the file, by its path."""
    return {"rules.md": "".join(render(table, rules.load(), loop.load()))}


def render(table: Table, judged: Iterable[Rule], facts: Iterable[Fact]) -> Iterator[str]:
    """Yield the page piece by piece: a list of all, then each with its family."""
    every: list[Rule | Fact] = [*judged, *facts]
    broken = _broken(table)
    yield f"{_ABOUT}\n"
    yield from rows(
        ["rule", "level", "judges", "what it says"],
        [[f"[{each.id}](#{_anchor(each.id)})", each.level.value, _side(each), prose(each.title)] for each in every],
    )
    family = ""
    for each in every:
        if each.id.partition("/")[0] != family:
            family = each.id.partition("/")[0]
            yield f"## {family}/\n\n"
        yield from _rule(each, broken.get(each.id, ()))


def _broken(table: Table) -> Mapping[str, Sequence[tuple[Verdict, str]]]:
    """Return who does not keep a rule, by its id, the worst first."""
    found: dict[str, dict[tuple[Verdict, str], None]] = {}
    for verdict in _BROKEN:
        for cell in table.cells:
            if cell.verdict is verdict:
                found.setdefault(cell.row, {})[verdict, cell.subject] = None
    return {row: tuple(said) for row, said in found.items()}


def _rule(each: Rule | Fact, broken: Sequence[tuple[Verdict, str]]) -> Iterator[str]:
    why, mend = advice(each.doc)
    yield f"### {each.id}\n\n{prose(each.title)}\n\n"
    yield f"{each.level.value}, over each {prose(each.on.name)} of the {_side(each)}.\n\n"
    yield "".join([f"{prose(paragraph)}\n\n" for paragraph in why.split("\n\n") if paragraph])
    yield f"**To fix it:** {prose(mend)}\n\n" if mend else ""
    quote = f": “{prose(each.source.quote)}”" if each.source.quote else ""
    yield f"Source: {_source(each.source.url)}{quote}\n\n"
    if isinstance(each, Rule):
        yield from _claims(each)
        yield from _example(each.bad[0])
    for verdict, said in _BROKEN.items():
        named = [prose(subject) for found, subject in broken if found is verdict]
        yield f"Who {said}: {', '.join(named)}.\n\n" if named else ""


def _claims(rule: Rule) -> Iterator[str]:
    others = [code(name) for name in rule.reads if name != rule.refused]
    if others:
        yield f"It goes by the claims {', '.join(others)}.\n\n"
    if rule.refused:
        yield f"What a provider does about a breach is claimed as {code(rule.refused)}.\n\n"


def _example(example: Example) -> Iterator[str]:
    base = read_json(folder("fixtures") / "wire" / f"{example.base}.json")
    yield f"<details><summary>Breaks it: {example.base}.json, edited</summary>\n\n```diff\n"
    for pointer, new in example.edits.items():
        # An edit may add what was not there.
        with suppress(LookupError):
            yield f"- {pointer}: {_json(resolve(base, pointer))}\n"
        yield f"+ {pointer}: {_json(new)}\n" if new is not REMOVE else ""
    for name, value in example.claims.items():
        yield f"  where a provider's {name} is {_json(value)}\n"
    yield "```\n\n</details>\n\n"


def _json(value: Any) -> str:
    return cut(orjson.dumps(value).decode(), _WIDTH)


def _side(each: Rule | Fact) -> str:
    return each.on.side.value if isinstance(each, Rule) else "loop of a client"


def _source(url: str) -> str:
    return f"<{url}>" if re.fullmatch(r"https?://[^\s<>]+", url) else prose(url)


def _anchor(name: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-")
