"""Find the release of an SDK that began to break a rule, and the one that fixed it.

The releases come from the index that pip or npm is configured to use, without pre-releases and withdrawn ones. Each is
installed in an environment of its own, which is kept for later runs, and driven through the scenarios that can show
the rule. As soon as a release breaks it, only the scenarios that show it are run with the others.

A release that cannot be installed, or whose driver fails, is skipped. So is one in which there is nothing to check the
rule by. Without --good, the search starts at the release that breaks the rule and goes in steps of 1, 2, 4 … to older
and to newer ones, then in halves. With --good, only the releases between the two are tried.

Exit codes: 0 found, 1 not found within the range, 2 unusable.
"""

import argparse
from typing import TYPE_CHECKING, Any, Final

from conformance.cli import _adapters, _releases
from conformance.errors import Unusable
from conformance.terminal import print_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.adapters.bisection import Bisection, Judge, ReleaseVerdict
    from conformance.adapters.definition import AdapterDefinition

EXAMPLES: Final = """\
  conformance adapter bisect pydantic-ai-responses --rule responses/phase-kept --bad 1.87.0
  conformance adapter bisect langchain-js-responses --rule responses/phase-kept --good 1.4.0 --bad 1.3.1
  conformance adapter bisect litellm --rule reasoning/verbatim --scenario interleaved-thinking --format json"""

_MOST_SCENARIOS: Final = 3
"""How many of the scenarios that show the rule are run with the other releases: the shortest."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("--rule", metavar="RULE", required=True, help="a rule or a loop fact; see `conformance explain rules`")
    add("--good", metavar="V", default="", help="a release that keeps the rule, older or newer than the bad one")
    add("--bad", metavar="V", default="", help="a release that breaks it (default: the newest, else one of a sample)")
    add("--format", choices=("console", "json"), default="console", help="console (default) or json")
    _releases.add_run(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the first bad and the first fixed release; return 1 if there is neither."""
    # Imported here because these modules load the rules and httpx, which --help does not need.
    import orjson

    from conformance import rules
    from conformance.adapters import bisection, definition, loop
    from conformance.errors import UnknownName
    from conformance.reporting.renderers import releases as rendered
    from conformance.reporting.text import printable_json
    from conformance.wire.views import Side

    chosen = definition.load(arguments.name, _adapters.definitions_folder(arguments))
    if "@" in arguments.name:
        raise Unusable(f"{arguments.name}: name releases with --good and --bad")
    if arguments.rule not in loop.with_rules():
        raise UnknownName("rule", arguments.rule, loop.with_rules())
    rule = rules.by_id().get(arguments.rule)
    if rule is not None and rule.on.side is not Side.CLIENT:
        raise Unusable(f"{arguments.rule} is a rule about providers, which no release of a client breaks")
    _releases.check(chosen, arguments)
    if arguments.good and arguments.good == arguments.bad:
        raise Unusable(f"--good and --bad are the same release: {arguments.good}")
    arguments.scenario = arguments.scenario or _scenarios(chosen, arguments)
    dates = dict(_releases.listed(chosen))
    found = bisection.search(tuple(dates), _judge(chosen, dates, arguments), arguments.good, arguments.bad)
    report = _report(chosen, found, dates, arguments)
    if arguments.format == "json":
        text = orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
        print(printable_json(text), end="")
    else:
        print("".join(rendered.bisection(report)), end="")
    return int(found.first_bad is None and found.first_fixed is None)


def _scenarios(chosen: "AdapterDefinition", arguments: argparse.Namespace) -> list[str]:
    from conformance.adapters.bisection import scenarios_for

    results = _releases.stored(chosen, arguments.provider or chosen.providers[0])
    cases = () if results is None else results.cases
    return list(scenarios_for(arguments.rule, chosen.protocol, cases, agents=bool(chosen.agent)))


def _judge(chosen: "AdapterDefinition", dates: "Mapping[str, str]", arguments: argparse.Namespace) -> "Judge":
    """Return what runs a release and prints its verdict."""
    from conformance import scenarios
    from conformance.adapters.bisection import SKIPPED, ReleaseVerdict, verdict_of
    from conformance.reporting.renderers import releases as rendered

    run_plan = _releases.runner(arguments)
    find = scenarios.load_driven if chosen.agent else scenarios.load

    def tried(version: str) -> "ReleaseVerdict":
        try:
            verdict = verdict_of(run_plan(_releases.plan(chosen.at(version), arguments)), arguments.rule)
        except Unusable as error:
            verdict = ReleaseVerdict(SKIPPED, str(error))
        if verdict.cases:
            shown = {case.rpartition(".")[0] for case in verdict.cases}
            shortest = sorted(shown, key=lambda name: (len(find(name).turns), name))
            arguments.scenario = sorted(shortest[:_MOST_SCENARIOS])
        line = rendered.trial({"version": version, "date": dates[version], **_as_json(verdict)}, arguments.rule)
        if arguments.format == "json":
            print_error(line)
        else:
            print(line, flush=True)
        return verdict

    return tried


def _as_json(verdict: "ReleaseVerdict") -> dict[str, Any]:
    return {"verdict": verdict.kind, "why": verdict.why, "cases": list(verdict.cases)}


def _report(
    chosen: "AdapterDefinition", found: "Bisection", dates: "Mapping[str, str]", arguments: argparse.Namespace
) -> dict[str, Any]:
    edges = {
        name: None
        if edge is None
        else {
            "version": edge.first,
            "date": dates[edge.first],
            "after": edge.before,
            "not_judged": list(edge.between),
        }
        for name, edge in (("first_bad", found.first_bad), ("first_fixed", found.first_fixed))
    }
    return {
        "adapter": chosen.name,
        "package": chosen.package,
        "provider": arguments.provider or chosen.providers[0],
        "rule": arguments.rule,
        "good": arguments.good,
        "bad": arguments.bad,
        "scenarios": list(arguments.scenario),
        "variant": arguments.variant or "",
        **edges,
        "releases": [
            {"version": version, "date": dates[version], **_as_json(found.verdicts[version])}
            for version in dates
            if version in found.verdicts
        ],
    }
