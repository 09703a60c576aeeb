"""Run the scenarios with one adapter and one provider.

By default all requests are answered and checked afterwards, so one run shows every problem. With --strict, a request
that the provider would reject gets the provider's error, like the real API.

A driver runs with an empty HOME, in an empty folder of its own, and where the system permits it, reaches nothing but
the simulator. --env HOME, --cwd and --allow-network change that.

A broken MUST fails, a broken SHOULD warns. A driver that crashes is an error and says nothing about the adapter. A
case whose facts could not be checked is untested, and fails.
"""

import argparse
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.arguments import PROVIDER_HELP
from conformance.cli import _adapters
from conformance.errors import Unusable
from conformance.reporting.text import printable_json
from conformance.terminal import painter, print_error

if TYPE_CHECKING:
    from conformance.adapters.runs import RunPlan
    from conformance.baseline import Entry
    from conformance.results.runs import Results
    from conformance.secrets import Scrubber

EXAMPLES: Final = """\
  conformance adapter run --driver 'node driver.mjs' --provider deepseek
  conformance adapter run --driver ./driver.py --provider openrouter --scenario 'ids-*' --strict
  conformance adapter run --driver ./driver.py --provider openai --protocol responses
  conformance adapter run pydantic-ai@1.25.0 --install --keep sessions
  conformance adapter run --driver ./driver.py --provider deepseek --write-baseline expected-failures.yaml
  conformance adapter run --driver ./driver.py --provider deepseek --baseline expected-failures.yaml
  conformance adapter run --driver 'npx tsx driver.ts' --cwd . --provider deepseek"""

_SURROUNDINGS: Final = (
    "each driver ran with an empty HOME, in an empty folder of its own, and without the network; if it needs more, use "
    "--env HOME, --cwd DIR or --allow-network"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    # Imported here, because `conformance adapter --help` asks only what this module is for.
    from conformance.scenarios import STATES

    add = parser.add_argument
    add("name", metavar="ADAPTER[@VERSION]", nargs="?", default="", help="an adapter of this project")
    add("--driver", metavar="COMMAND", default="", help="the command that runs your own driver, in quotes")
    add("--provider", metavar="PROVIDER", default="", help=PROVIDER_HELP)
    add(
        "--model", metavar="MODEL", default="", help="the model to request (default: the adapter's, else the profile's)"
    )
    add(
        "--protocol",
        metavar="WIRE",
        default="",
        help="with --driver, the API that it speaks: chat, messages, responses, gemini (default: the profile's first)",
    )
    add("--variant", choices=("plain", "stream"), help="request only plain or only streamed replies")
    passed = "pass this variable to the driver; repeatable"
    add("--env", metavar="NAME[=VALUE]", action="append", default=[], help=passed)
    add(
        "--cwd",
        metavar="DIR",
        default="",
        help="with --driver, run it in DIR, for commands such as `npx` and `python -m` (default: an empty folder)",
    )
    add(
        "--takes-history",
        action="store_true",
        help="with --driver, it begins with the job's `history`: run the scenarios that have one, too",
    )
    add(
        "--takes-state",
        metavar="STATE",
        action="append",
        default=[],
        choices=STATES,
        help="with --driver, it leaves this to a server of Responses if the job's `state` says so: run the scenarios "
        "for it, too; %(choices)s; repeatable",
    )
    add("--strict", action="store_true", help="reject what the provider rejects, instead of only recording it")
    add("--keep", metavar="DIR", default="", help="write the exchanges of each case to DIR, for `conformance check`")
    baseline = parser.add_mutually_exclusive_group()
    baseline.add_argument(
        "--baseline", metavar="FILE", default="", help="expected failures: they pass, and it fails if they are fixed"
    )
    baseline.add_argument(
        "--write-baseline", metavar="FILE", default="", help="write the failures of this run to a new baseline"
    )
    add(
        "--allow-wide-baseline",
        action="store_true",
        help="accept a baseline that matches more than a tenth of the checks",
    )
    add("--format", choices=("console", "json"), default="console", help="console (default) or json")
    add("--all", action="store_true", help="show all findings, including MAY")
    _adapters.add_cases(parser, "write the results to DIR/<name>.<provider>.json")
    _adapters.add_folder(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the report; return 1 if a case failed or was untested, and 2 if one errored."""
    # Imported here and below because these modules load httpx, which --help does not need.
    import orjson

    from conformance.adapters.runs import begun
    from conformance.adapters.summary import summary
    from conformance.reporting.renderers.adapter import render
    from conformance.results.files import write
    from conformance.secrets import Scrubber

    entries = _baseline(arguments)
    plan = _plan(arguments)
    if arguments.results:
        write(Path(arguments.results), begun(plan), plan.driver.scrubber)
    results, cases = _adapters.run_plan(plan, arguments)
    if arguments.results:
        write(Path(arguments.results), results, plan.driver.scrubber)
    report = summary(results, cases, strict=plan.strict)
    if arguments.format == "json":
        shown = printable_json(orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())
    else:
        shown = "".join(render(report, painter(), every=arguments.all))
    secrets = plan.driver.scrubber or Scrubber()
    print(secrets.text(shown), end="")
    if {"errored"} == {grade for grade, count in report["grades"].items() if count} and arguments.driver:
        print_error(_SURROUNDINGS)
    if not report["played"]:
        raise Unusable(f"no case was run: the claims of {plan.provider} rule out every chosen scenario")
    if arguments.baseline:
        return _compare(results, entries, arguments)
    if arguments.write_baseline:
        return _write_baseline(results, Path(arguments.write_baseline), plan.driver.scrubber)
    return _adapters.exit_code([report])


def _plan(arguments: argparse.Namespace) -> "RunPlan":
    """Return what to run; raises Unusable if the arguments do not name an adapter or a driver."""
    from dataclasses import replace

    from conformance.adapters import definition

    if bool(arguments.name) is bool(arguments.driver):
        message = "name an adapter (see `conformance adapter list`) or use --driver, but not both"
        raise Unusable(message)
    if arguments.name:
        chosen = definition.load(arguments.name, _adapters.definitions_folder(arguments))
        if arguments.protocol not in ("", chosen.protocol):
            raise Unusable(f"--protocol is for --driver: {chosen.name} speaks {chosen.protocol}")
        if arguments.takes_history:
            raise Unusable(f"--takes-history is for --driver; the definition of {chosen.name} says whether it does")
        if arguments.takes_state:
            raise Unusable(f"--takes-state is for --driver; the definition of {chosen.name} says what it can")
        plan = _adapters.plan(chosen, arguments.provider or chosen.providers[0], arguments, dict(_variables(arguments)))
    else:
        plan = _driver_plan(arguments)
    model = arguments.model or plan.model
    return replace(plan, model=model, variant=arguments.variant or "", strict=arguments.strict)


def _driver_plan(arguments: argparse.Namespace) -> "RunPlan":
    from conformance.adapters.driver import SECONDS, Driver
    from conformance.adapters.runs import UNNAMED, RunPlan
    from conformance.profiles import load_profile
    from conformance.suite.options import on_wire
    from conformance.wires import by_name

    if not arguments.provider:
        message = "--provider is required; see `conformance explain providers`"
        raise Unusable(message)
    try:
        words = tuple(shlex.split(arguments.driver))
    except ValueError as error:
        raise Unusable(f"--driver {arguments.driver!r} is not a command: {error}") from None
    if not words:
        message = "--driver is empty; it must be the command that runs the driver"
        raise Unusable(message)
    variables = dict(_variables(arguments))
    folder = Path(arguments.cwd).absolute() if arguments.cwd else None
    if folder is not None and not folder.is_dir():
        raise Unusable(f"--cwd {arguments.cwd}: no such folder")
    command = words if folder is not None else tuple(map(_from_anywhere, words))
    driver = Driver(command, folder, variables, arguments.seconds or SECONDS, uses_network=arguments.allow_network)
    profile = on_wire(load_profile(arguments.provider), arguments.protocol)
    if arguments.takes_state and not by_name(profile.wire).keeps_replies:
        raise Unusable(f"--takes-state: no server of {profile.wire} keeps replies; choose another wire with --protocol")
    scenarios, takes_history = tuple(arguments.scenario), arguments.takes_history
    states = tuple(dict.fromkeys(arguments.takes_state))
    return RunPlan(UNNAMED, driver, profile, scenarios=scenarios, takes_history=takes_history, states=states)


def _from_anywhere(word: str) -> str:
    """Return a word of a command as it is right in any folder: the path of a file becomes absolute."""
    return str(Path(word).absolute()) if Path(word).is_file() else word


def _variables(arguments: argparse.Namespace) -> Iterator[tuple[str, str]]:
    for given in arguments.env:
        name, equals, value = given.partition("=")
        if not equals and name not in os.environ:
            raise Unusable(f"--env {name}: the variable is not set; use {name}=VALUE")
        yield name, value if equals else os.environ[name]


def _baseline(arguments: argparse.Namespace) -> "Sequence[Entry]":
    """Return the entries of --baseline; raises Unusable if it is missing, or if --write-baseline would replace a file.

    It is called before the first case, so that no run is lost.
    """
    from conformance import baseline

    if arguments.write_baseline and Path(arguments.write_baseline).exists():
        message = f"--write-baseline {arguments.write_baseline}: the file exists; remove it or choose another name"
        raise Unusable(message)
    if not arguments.baseline:
        return ()
    if not Path(arguments.baseline).is_file():
        message = f"--baseline {arguments.baseline}: no such file; to create it, use --write-baseline"
        raise Unusable(message)
    return baseline.load(Path(arguments.baseline), today=datetime.now(UTC).date().isoformat())


def _write_baseline(results: "Results", path: Path, secrets: "Scrubber | None") -> int:
    """Write an entry for each failure; errors are not failures of the adapter and get none."""
    from conformance import artifacts, baseline
    from conformance.adapters.summary import failures_as_entries
    from conformance.gate import check_results
    from conformance.reporting.text import plural
    from conformance.results import Status
    from conformance.secrets import Scrubber

    checked = check_results(results)
    entries = failures_as_entries(checked, datetime.now(UTC).date().isoformat())
    text = baseline.dump(entries)
    artifacts.write(path, (secrets or Scrubber()).text(text), private=secrets is not None)
    print_error(f"{plural(len(entries), 'failure')} written to {path}; replace each reason with why it is not fixed")
    return 2 if any(each.status is Status.ERRORED for each in checked) else 0


def _compare(results: "Results", entries: "Sequence[Entry]", arguments: argparse.Namespace) -> int:
    """Compare the results with a baseline, and ignore its entries about cases that were not run."""
    from conformance.gate import check_results, check_subjects, evaluate
    from conformance.reporting.renderers.gate import render

    check_subjects([results], entries, arguments.baseline)
    if arguments.scenario or arguments.variant:
        seen = check_results(results)
        entries = tuple([entry for entry in entries if any(entry.covers(result.names) for result in seen)])
    today, allow_wide = datetime.now(UTC).date().isoformat(), arguments.allow_wide_baseline
    gate = evaluate([results], entries, today, allow_wide=allow_wide)
    out = sys.stderr if arguments.format == "json" else sys.stdout
    print("".join(render(gate, painter())), end="", file=out)
    return 2 if gate.errored else int(not gate.passes)
