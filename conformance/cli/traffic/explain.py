"""Explain an error text, a rule, claim, probe, scenario or provider, or list them.

An explanation says what it means, why, its source, and how to fix a finding. NAME is the id of a rule or of a fact
about agent loops or gateways (as `check`, `adapter` and `gateway` print it), the name of a claim, of a probe (as a run
prints it), of a scenario or of a provider, or a glob. Without a name, all names are printed. What is none of these is
read as an error: its text, its body, a log line, a traceback or a curl command; `-` reads it from standard input. A
question in your own words is answered by the names that come nearest.

NAME can also be a list: rules, claims, probes, scenarios or providers. With --provider, a list shows how that provider
handles violations of each rule, which scenarios apply to it, how it is claimed to answer each probe, or its claims with
their values, dates and sources.
"""

import argparse
import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

import orjson

from conformance import fidelity, profiles, rules, scenarios
from conformance.adapters import loop
from conformance.adapters.loop import Fact
from conformance.cli import _errors, _providers
from conformance.cli._lists import LISTS
from conformance.cli._lists import text as list_text
from conformance.documents import read_json
from conformance.errors import UnknownName, Unusable
from conformance.fidelity import FidelityFact
from conformance.fidelity.examples import GatewayExample
from conformance.gateways import loss
from conformance.profiles import naming
from conformance.reporting.text import labelled, printable_json
from conformance.resources import folder
from conformance.rules import Example, Rule, advice
from conformance.scenarios import Probe, Scenario
from conformance.terminal import columns

EXAMPLES: Final = """\
  conformance explain                                   # the names that can be explained
  conformance explain rules                             # their levels, sides and titles
  conformance explain claims --provider deepseek        # with values, dates and sources
  conformance explain scenarios --format json
  conformance explain transcript/result-answers-call
  conformance explain 'stream/*'
  conformance explain reasoning.omitted-on-tool-turn
  conformance explain absent-current-own
  conformance explain deepseek
  conformance explain 'Kimi K2 at groq'
  conformance explain '400 … must be passed back'       # an error text, a body, a log line, a traceback
  conformance explain 'two tool calls have the same id' # a question in your own words
  pbpaste | conformance explain -                       # the same, or a curl command, on standard input"""

_MAX_WIDTH: Final = 100
_MOST_MODEL_WORDS: Final = 3
"""How many words a model with its provider has, without a word such as `at` between them."""

_MOST_NAME_WORDS: Final = 8
"""How many words a provider, its model and what is between them have; a longer text names none."""

_DIGIT: Final = re.compile(r"[0-9]")
_LOOP: Final = "agent loop of a client"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    help_text = f"a rule, a claim, a probe, a scenario, a provider, a glob in quotes, or a list: {', '.join(LISTS)}"
    parser.add_argument("names", nargs="*", metavar="NAME", help=help_text)
    parser.add_argument("--provider", metavar="PROVIDER", help="show what a list has for this provider")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="of a list: text (default) or json")


def run(arguments: argparse.Namespace) -> int:
    """Print the lists or the explanations that are named; without a name, every name that can be explained."""
    names: list[str] = arguments.names
    if names and set(names) <= set(LISTS):
        _print_lists(names, arguments)
        return 0
    if arguments.provider is not None or arguments.format == "json":
        raise Unusable(f"--provider and --format are about lists; name one: {', '.join(LISTS)}")
    shown = [text for name in names for text in _explained(name)] if names else list(map(_names_in, LISTS))
    print("\n\n".join(dict.fromkeys(shown)))
    return 0


def _print_lists(kinds: Sequence[str], arguments: argparse.Namespace) -> None:
    """Print lists; one in JSON is an array of objects, several are an object of arrays."""
    profile = None if arguments.provider is None else profiles.load_profile(arguments.provider)
    lists = {kind: LISTS[kind](profile) for kind in kinds}
    if arguments.format == "json":
        shown: Any = lists if len(lists) > 1 else lists[kinds[0]]
        print(printable_json(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode()))
    else:
        print("\n\n".join([list_text(kind, rows) for kind, rows in lists.items()]))


def _names_in(kind: str) -> str:
    """Return the names in a list, below how to see the list itself."""
    names = dict.fromkeys([str(row.get("name", row.get("id"))) for row in LISTS[kind](None)])
    # Names are copied, so none is broken at its end of line.
    wrapper = textwrap.TextWrapper(_width(), break_long_words=False, break_on_hyphens=False)
    wrapper.initial_indent = wrapper.subsequent_indent = "  "
    heading = f"{len(names)} {kind}; `conformance explain {kind}` describes each:"
    return f"{heading}\n{wrapper.fill(', '.join(names))}"


def _explained(name: str) -> list[str]:
    """Return the explanations of the first kind that has a name; raises UnknownName with the nearest of all kinds."""
    if name == _errors.STDIN:
        return [_pasted(_errors.from_stdin())]
    if name in LISTS:
        return [list_text(name, LISTS[name](None))]
    for find in _KINDS:
        if found := ["\n".join(lines) for lines in find(name)]:
            return found
    if _errors.is_error_text(name):
        # What only looks like an error by its words may be a question, and is answered as both.
        answer = [] if _errors.is_known(name) else _answered(name)
        try:
            return [*answer, _pasted(name)]
        except Unusable:
            if answer:
                return answer
            raise
    raise UnknownName("rule, claim, probe, scenario or provider", name, _known())


def _answered(text: str) -> list[str]:
    """Return the answer to a question in a reader's own words; none if it is not one, or nothing fits."""
    # Imported here because most explanations are of names.
    from conformance.cli import _questions

    lines = list(_questions.answered(text, _width())) if _questions.is_own_words(text) else []
    return ["\n".join(lines)] if lines else []


def _is_asked(text: str) -> bool:
    """Return whether a text that names a provider asks something about it, rather than a model there."""
    from conformance.cli import _questions, _topics

    words = text.lower().split()
    is_place = any(each in words for each in ("at", "on", "via")) and not _topics.answers(text)
    is_long = len(words) > _MOST_MODEL_WORDS or not _DIGIT.search(text)
    return not is_place and is_long and (_questions.is_question(text))


def _pasted(text: str) -> str:
    """Return what an error means, without the secrets of a curl command or a log."""
    # Imported here because most explanations quote nothing.
    from conformance.secrets import learning, scrubber

    secrets = scrubber(learning.of_text(text))
    # Before it is wrapped, because a secret of two lines is not found; and after, because the text may be taken apart.
    return secrets.text("\n".join(_errors.explained(secrets.text(text), _width())))


def _known() -> Sequence[str]:
    ids = [*(rule.id for rule in rules.of_traffic()), *(fact.id for fact in loop.load())]
    return (
        *LISTS,
        *ids,
        *loss.known(),
        *profiles.vocabulary(),
        *_probes(),
        *scenarios.names(),
        *profiles.names(),
        *naming.called(),
    )


def _probes() -> Mapping[str, list[tuple[Scenario, Probe]]]:
    """Return every probe by its name, with the scenarios that have it."""
    found: dict[str, list[tuple[Scenario, Probe]]] = {}
    for scenario in map(scenarios.load, scenarios.names()):
        for probe in scenario.probes:
            found.setdefault(probe.name, []).append((scenario, probe))
    return found


def _claims_named(name: str) -> Iterator[Iterator[str]]:
    yield from (_claim(each, meaning) for each, meaning in profiles.vocabulary().items() if fnmatchcase(each, name))


def _facts_named(name: str) -> Iterator[Iterator[str]]:
    yield from (_heading(fact, _LOOP) for fact in loop.load() if fnmatchcase(fact.id, name))


def _gateway_facts_named(name: str) -> Iterator[Iterator[str]]:
    """Yield the explanations of facts about gateways, and of the two that sum up what rules find at a gateway."""
    for fact in loss.known():
        if fnmatchcase(fact, name):
            known = fidelity.by_id().get(fact)
            yield _of_rules(fact) if known is None else _gateway_fact(known)


def _gateway_fact(fact: FidelityFact) -> Iterator[str]:
    yield from _heading(fact, f"{fact.of} that pass a gateway")
    for heading, examples in (("Violates the fact", fact.bad), ("Follows the fact", fact.good)):
        for example in examples:
            yield from ("", f"{heading}: {_about(example)}")
            yield from _edits(example.difference())


def _of_rules(fact: str) -> Iterator[str]:
    yield from (fact, *labelled("", loss.title(fact), _width()), "", "level   MUST")
    yield from _line("checks", "what the gateway itself writes, by all rules; a finding names the rule that it breaks")
    yield f"source  {loss.sources()[fact]}"


def _rules_named(name: str) -> Iterator[Iterator[str]]:
    claims = profiles.vocabulary()
    try:
        found = rules.select([name])
    except UnknownName:
        return
    yield from (_rule(rule, claims) for rule in found)


def _probes_named(name: str) -> Iterator[Iterator[str]]:
    """Yield the explanations of probes, which reports also call `probes/<name>` and `<scenario>: <name>`."""
    scenario, colon, rest = name.removeprefix("probes/").partition(": ")
    wanted = rest if colon else scenario
    for probe, found in _probes().items():
        if fnmatchcase(probe, wanted):
            own = [each for each in found if not colon or fnmatchcase(each[0].name, scenario)]
            yield from [_probe(own)] if own else []


def _scenarios_named(name: str) -> Iterator[Iterator[str]]:
    yield from (_scenario(scenarios.load(each)) for each in scenarios.names() if fnmatchcase(each, name))


def _providers_named(name: str) -> Iterator[Iterator[str]]:
    if name.endswith((".yaml", ".yml")):
        yield _providers.explained(name, _width())
        return
    found = [each for each in (*profiles.names(), *profiles.installed_names()) if fnmatchcase(each, name)]
    if not found and (len(name.split()) > _MOST_NAME_WORDS or (_errors.is_error_text(name) and _is_asked(name))):
        return
    if not found and (meant := naming.find(name)):
        # What people call a provider; the text itself is kept, because it may name a model, too.
        found = [name] if meant.model else [meant.profile]
    yield from (_providers.explained(each, _width()) for each in found)


_KINDS: Final[Sequence[Callable[[str], Iterator[Iterator[str]]]]] = (
    _claims_named,
    _facts_named,
    _gateway_facts_named,
    _rules_named,
    _probes_named,
    _scenarios_named,
    _providers_named,
)


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


def _heading(rule: Rule | Fact | FidelityFact, side: str) -> Iterator[str]:
    """Yield what rules and facts have in common."""
    element = rule.element if isinstance(rule, FidelityFact) else rule.on.name
    why, fix = advice(rule.doc)
    yield from (rule.id, *labelled("", rule.title, _width()), "")
    yield f"level   {rule.level.value}"
    yield from _line("checks", f"the {side}, for each {element}")
    yield f"source  {rule.source.text}"
    if rule.source.quote:
        yield f"        “{rule.source.quote}”"
    yield from _section("Why", why)
    yield from _section("To fix it", fix)


def _section(heading: str, text: str) -> Iterator[str]:
    if text:
        yield from ("", heading)
        for number, paragraph in enumerate(text.split("\n\n")):
            yield from ("",) if number else ()
            yield textwrap.fill(paragraph, _width(), initial_indent="  ", subsequent_indent="  ")


def _about(example: Example | GatewayExample) -> str:
    edited = "with" if example.edits else "as it is"
    return f"fixtures/{'wire' if isinstance(example, Example) else 'gateways'}/{example.base}.json {edited}"


def _edits(difference: Iterator[tuple[str, str, Any]]) -> Iterator[str]:
    for sign, pointer, value in difference:
        yield f"  {sign} {pointer}: {_short(value)}"


def _difference(example: Example) -> Iterator[str]:
    yield from _edits(example.difference())
    for name, value in example.claims.items():
        yield f"  if the provider's claim {name} is {_short(value)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_WIDTH else f"{text[: _MAX_WIDTH - 1]}…"


def _claim(name: str, meaning: str) -> Iterator[str]:
    schema: Any = read_json(folder("schemas") / "files" / "profile.json")
    reference = schema["$defs"]["claims"]["properties"][name].get("$ref", "")
    kind = schema["$defs"].get(reference.rpartition("/")[2].removesuffix("-claim"), {})
    yield from (name, *labelled("", meaning, _width()), "")
    if kind.get("description"):
        yield f"value   {kind['description']}"
    for word, explained in kind.get("$defs", {}).items():
        yield f"        {word}: {explained['description']}"
    yield "        unknown: not documented; omitted: as on the canonical wire"
    reading = [rule.id for rule in rules.load() if name in rule.reads]
    yield f"rules   {', '.join(reading) or 'none'}"


def _probe(found: Sequence[tuple[Scenario, Probe]]) -> Iterator[str]:
    """Yield what a probe sends in each scenario that has it, which answer is expected, and how to send it."""
    yield from (f"{found[0][1].name} (probe)", *dict.fromkeys([probe.title for _, probe in found]), "")
    yield from _line("sent", "the request of the exchange below once more, with this one deviation")
    for scenario, probe in found:
        yield from _line(" ", f"{scenario.name}, exchange {probe.at}: {scenario.title}")
    for rule in dict.fromkeys([probe.breaks for _, probe in found if probe.breaks]):
        yield from _line("breaks", f"{rule}: {rules.by_id()[rule].title}")
    claims = dict.fromkeys([name for _, probe in found for name in probe.claims])
    for name in claims:
        yield from _line("claim", f"{name}: {profiles.vocabulary()[name]}")
    expected = "as the first of these claims that is known says" if claims else "that every provider accepts it"
    yield from _line("answer", expected)
    yield f"run it  pytest --provider=PROVIDER -k '{found[0][0].name} and {found[0][1].name}'"


def _line(label: str, text: str) -> list[str]:
    return labelled(label, text, _width(), 0, 6)


def _width() -> int:
    """Return the width of lines: that of the terminal, up to a width that is easy to read."""
    return min(_MAX_WIDTH, columns(_MAX_WIDTH))


def _scenario(scenario: Scenario) -> Iterator[str]:
    yield from (f"{scenario.name} (scenario)", *labelled("", scenario.title, _width()), "")
    audience = "providers and clients" if scenario.audience == "both" else f"{scenario.audience} only"
    yield f"for     {audience}"
    yield f"played  {' and '.join(scenario.variants)}, {len(scenario.turns)} exchanges"
    needs = [name if value is None else f"{name} = {json.dumps(value)}" for name, value in scenario.needs.items()]
    yield from _line("needs", ", ".join(needs) or "nothing")
    yield from _line("tests", ", ".join(scenario.exercises))
    if scenario.probes:
        yield from _line("probes", ", ".join([each.name for each in scenario.probes]))
    yield from _section("A conforming client", scenario.expects)
