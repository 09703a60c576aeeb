"""Explain a rule or a claim: what it requires, why, its source, and how to fix a finding.

NAME is the id of a rule or of a fact about agent loops (as `check` and `adapter` print it), the name of a claim, or a
glob.
"""

import argparse
import json
import textwrap
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from conformance import profiles, rules
from conformance.adapters import loop
from conformance.adapters.loop import Fact
from conformance.documents import read_json
from conformance.errors import UnknownName
from conformance.resources import folder
from conformance.rule_ids import matches
from conformance.rules import Example, Rule, advice

EXAMPLES: Final = """\
  conformance explain transcript/result-answers-call
  conformance explain 'stream/*'
  conformance explain reasoning.omitted-on-tool-turn"""

_WIDTH: Final = 100
_LOOP: Final = "agent loop of a client"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("names", nargs="+", metavar="NAME", help="a rule, a claim, or a glob in quotes")


def run(arguments: argparse.Namespace) -> int:
    """Print the explanations."""
    claims = profiles.vocabulary()
    shown = [text for name in arguments.names for text in _explained(name, claims)]
    print("\n\n".join(dict.fromkeys(shown)))
    return 0


def _explained(name: str, claims: Mapping[str, str]) -> list[str]:
    fitting = [claim for claim in claims if fnmatchcase(claim, name)]
    if fitting:
        return ["\n".join(_claim(claim, claims[claim])) for claim in fitting]
    facts = ["\n".join(_heading(fact, _LOOP)) for fact in loop.load() if matches(name, fact.id)]
    if facts:
        return facts
    try:
        return ["\n".join(_rule(rule, claims)) for rule in rules.select([name])]
    except UnknownName:
        known = (*claims, *(fact.id for fact in loop.load()), *(rule.id for rule in rules.load()))
        raise UnknownName("rule or claim", name, known) from None


def _rule(rule: Rule, claims: Mapping[str, str]) -> Iterator[str]:
    yield from _heading(rule, rule.on.side.value)
    if rule.reads:
        yield from ("", "Claims that it reads")
        for name in rule.reads:
            role = " (how the provider handles a violation)" if name == rule.claim else ""
            yield f"  {name}{role}"
            yield f"    {claims[name]}"
    for heading, examples in (("Violates the rule", rule.bad), ("Follows the rule", rule.good)):
        for example in examples:
            yield from ("", f"{heading}: {_about(example)}")
            yield from _difference(example)


def _heading(rule: Rule | Fact, side: str) -> Iterator[str]:
    """Yield what rules and facts have in common."""
    why, fix = advice(rule.doc)
    yield from (rule.id, rule.title, "")
    yield f"level   {rule.level.value}"
    yield f"checks  the {side}, for each {rule.on.name}"
    yield f"source  {rule.source.url}"
    if rule.source.quote:
        yield f"        “{rule.source.quote}”"
    yield from _section("Why", why)
    yield from _section("To fix it", fix)


def _section(heading: str, text: str) -> Iterator[str]:
    if text:
        yield from ("", heading)
        for number, paragraph in enumerate(text.split("\n\n")):
            yield from ("",) if number else ()
            yield textwrap.fill(paragraph, _WIDTH, initial_indent="  ", subsequent_indent="  ")


def _about(example: Example) -> str:
    edited = "with" if example.edits else "as it is"
    return f"fixtures/wire/{example.base}.json {edited}"


def _difference(example: Example) -> Iterator[str]:
    for sign, pointer, value in example.difference():
        yield f"  {sign} {pointer}: {_short(value)}"
    for name, value in example.claims.items():
        yield f"  if the provider's claim {name} is {_short(value)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _claim(name: str, meaning: str) -> Iterator[str]:
    schema: Any = read_json(folder("schemas") / "files" / "profile.json")
    reference = schema["$defs"]["claims"]["properties"][name].get("$ref", "")
    kind = schema["$defs"].get(reference.rpartition("/")[2].removesuffix("-claim"), {})
    yield from (name, meaning, "")
    if kind.get("description"):
        yield f"value   {kind['description']}"
    for word, explained in kind.get("$defs", {}).items():
        yield f"        {word}: {explained['description']}"
    yield "        unknown: not documented; omitted: as on the canonical wire"
    reading = [rule.id for rule in rules.load() if name in rule.reads]
    yield f"rules   {', '.join(reading) or 'none'}"
