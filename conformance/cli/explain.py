"""Explain a rule or a claim: what it demands and why, its source and examples, and how to mend a breach.

NAME is a rule's id (as `check` prints it), a claim's name, or a glob over either.
"""

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from types import CodeType, FunctionType
from typing import Any, Final

from conformance import profiles, rules
from conformance.documents import read_json
from conformance.errors import UnknownName
from conformance.resources import folder
from conformance.rules import Example, Rule
from conformance.wire.pointer import REMOVE, resolve

EXAMPLES: Final = """\
  conformance explain transcript/result-answers-call
  conformance explain 'stream/*'
  conformance explain reasoning.omitted-on-tool-turn"""

_WIDTH: Final = 100
_MEND: Final = re.compile(r"To mend it,\s+", re.IGNORECASE)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("names", nargs="+", metavar="NAME", help="a rule, a claim, or a glob (in quotes)")


def run(arguments: argparse.Namespace) -> int:
    """Print the explanations, one below the other."""
    claims = profiles.vocabulary()
    shown = [text for name in arguments.names for text in _explained(name, claims)]
    print("\n\n".join(dict.fromkeys(shown)))
    return 0


def _explained(name: str, claims: Mapping[str, str]) -> list[str]:
    fitting = [claim for claim in claims if fnmatchcase(claim, name)]
    if fitting:
        return ["\n".join(_claim(claim, claims[claim])) for claim in fitting]
    try:
        return ["\n".join(_rule(rule, claims)) for rule in rules.select([name])]
    except UnknownName:
        raise UnknownName("rule or claim", name, (*claims, *(rule.id for rule in rules.load()))) from None


def _rule(rule: Rule, claims: Mapping[str, str]) -> Iterator[str]:
    why, mend = _parts(rule.doc.partition("\n")[2].strip())
    yield from (rule.id, rule.title, "")
    yield f"level   {rule.level.value}"
    yield f"judges  the {rule.on.side.value}, over each {rule.on.name}"
    yield f"source  {rule.source.url}"
    if rule.source.quote:
        yield f"        “{rule.source.quote}”"
    yield from _section("Why", why)
    yield from _section("To mend it", mend)
    read = claims_of(rule, claims)
    if read:
        yield from ("", "Claims of a provider that it goes by")
        for name in read:
            role = " (says what the provider does about a breach)" if name == rule.refused else ""
            yield f"  {name}{role}"
            yield f"    {claims[name]}"
    for heading, examples in (("Breaks it", rule.bad), ("Keeps it", rule.good)):
        for example in examples:
            yield from ("", f"{heading}: {_about(example)}")
            yield from _difference(example)


def claims_of(rule: Rule, known: Container[str]) -> list[str]:
    """Return the names of the claims that a rule reads: those it declares, then those that its code spells out."""
    module = sys.modules[rule.judge.__module__]
    functions = [rule.judge, rule.where, *vars(module).values()]
    own = [each for each in functions if isinstance(each, FunctionType) and each.__module__.startswith(rules.__name__)]
    spelled = {word for function in own for word in _words(function.__code__)}
    names = dict.fromkeys((*rule.claims, *sorted(spelled)))
    return [name for name in names if name in known]


def _words(code: CodeType) -> Iterator[str]:
    """Yield the strings in a function's code, and the claims behind the one question that names none of them."""
    if "thinks" in code.co_names:
        yield from ("thinking.mode", "thinking.switches")
    for constant in code.co_consts:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, tuple):
            yield from (each for each in constant if isinstance(each, str))
        elif isinstance(constant, CodeType):
            yield from _words(constant)


def _parts(doc: str) -> tuple[str, str]:
    """Split a rule's documentation at the sentence that says how to mend a breach."""
    found = _MEND.search(doc)
    if found is None:
        return doc, ""
    mend = doc[found.end() :].strip()
    return doc[: found.start()].strip(), mend[:1].upper() + mend[1:]


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
    base = read_json(folder("fixtures") / "wire" / f"{example.base}.json")
    for pointer, new in example.edits.items():
        # An edit may add what was not there.
        with suppress(LookupError):
            yield f"  - {pointer}: {_short(resolve(base, pointer))}"
        if new is not REMOVE:
            yield f"  + {pointer}: {_short(new)}"
    for name, value in example.claims.items():
        yield f"  where the provider's {name} is {_short(value)}"


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
    for word, explained in kind.get("meanings", {}).items():
        yield f"        {word}: {explained}"
    yield "        unknown: nothing was found; left out: as the canonical wire"
    reading = [rule.id for rule in rules.load() if name in claims_of(rule, [name])]
    yield f"rules   {', '.join(reading) or 'none'}"
