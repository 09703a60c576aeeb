"""Put an SDK or agent loop to the test: play a strict provider to it, and judge what it sends back.

A driver is a small program in any language that puts one adapter through one job. It gets the job as one JSON
document on standard input (schemas/files/adapter-job.json) and prints the answer as the last line of its standard
output (schemas/files/adapter-answer.json). Its requests go to the base URL of the job; nothing of the adapter has to
be changed. Each case runs in a process of its own, with a time-out and without the caller's keys and proxies.

By default everything is recorded and judged afterwards, so that one run shows every fault. With --strict the provider's
refusals are answered, as life would. What breaks a MUST fails, a SHOULD warns. What is at fault in driver or program is
errored and says nothing of the adapter; what was promised and could not be judged is untested, and fails.
"""

import argparse
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.errors import ConformanceError, Unusable
from conformance.terminal import Progress, complain, painter

if TYPE_CHECKING:
    from conformance.adapters.case import Run
    from conformance.adapters.definition import AdapterDefinition
    from conformance.adapters.runs import Plan
    from conformance.results import Results

EXAMPLES: Final = """\
  conformance adapter run --driver 'node driver.mjs' --provider deepseek
  conformance adapter run --driver ./driver.py --provider openrouter --scenario 'ids-*' --strict
  conformance adapter run pydantic-ai@1.25.0 --install --keep sessions
  conformance adapter run --driver ./driver.py --provider deepseek --baseline expected-failures.yaml
  conformance adapter install pydantic-ai litellm@1.83.3
  conformance adapter matrix --only 'langchain-*' --resume
  conformance list scenarios                        # what is played
  conformance check sessions --provider deepseek    # what --keep has kept, judged again"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    actions = parser.add_subparsers(
        dest="action", metavar="ACTION", required=True, parser_class=argparse.ArgumentParser
    )
    shown = actions.add_parser("list", help="the adapters that come with the project, and which are installed")
    shown.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    install = actions.add_parser("install", help="make an adapter's environment, in the version that is named")
    install.add_argument("names", metavar="NAME[@VERSION]", nargs="+", help="see `conformance adapter list`")
    _configure_run(actions.add_parser("run", help="put one adapter through the scenarios with one provider"))
    _configure_matrix(
        actions.add_parser("matrix", help="put all adapters through the scenarios with all their providers")
    )
    for action in actions.choices.values():
        action.add_argument("--adapters", metavar="DIR", default="", help="other definitions than the project's")


def _configure_run(run: argparse.ArgumentParser) -> None:
    add = run.add_argument
    add("name", metavar="NAME[@VERSION]", nargs="?", default="", help="an adapter of the project's")
    add("--driver", metavar="COMMAND", default="", help="or any driver: the command that runs it, in quotes")
    add("--provider", metavar="P", default="", help="whom to play; see `conformance list providers`")
    add("--model", metavar="M", default="", help="the model to ask for (default: the adapter's, else the profile's)")
    add("--variant", choices=("plain", "stream"), help="ask for replies in this way only")
    add("--env", metavar="NAME[=VALUE]", action="append", default=[], help="let the driver have this variable, too")
    add("--strict", action="store_true", help="refuse what the provider refuses, instead of recording alone")
    add(
        "--keep",
        metavar="DIR",
        default="",
        help="write what passed in each case to DIR, as `conformance check` reads it",
    )
    add("--baseline", metavar="FILE", default="", help="expected failures: these pass, and their absence fails")
    add("--format", choices=("console", "json"), default="console", help="console (default) or json")
    add("--all", action="store_true", help="show every finding, and what clients may do as they like")
    _configure_cases(run, "write the results to DIR/<name>.<provider>.json")


def _configure_matrix(matrix: argparse.ArgumentParser) -> None:
    matrix.add_argument("--only", metavar="GLOB", action="append", default=[], help="only these adapters")
    matrix.add_argument("--resume", action="store_true", help="pass over what DIR holds already, whole and not errored")
    _configure_cases(matrix, "where the results go (default: reports/results/adapters)")


def _configure_cases(action: argparse.ArgumentParser, results: str) -> None:
    add = action.add_argument
    add("--scenario", metavar="GLOB", action="append", default=[], help="only these scenarios; may be given again")
    add("--install", action="store_true", help="install first what is not installed")
    add("--results", metavar="DIR", default="", help=results)
    add("--seconds", metavar="N", type=float, help="time-out of one case (default: the adapter's own, else 60)")
    add("--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="drivers at a time (default: one a CPU)")


def run(arguments: argparse.Namespace) -> int:
    """Carry out the action; 1 where something failed or was untested, 2 where something errored."""
    return {"list": _list, "install": _install, "run": _run, "matrix": _matrix}[arguments.action](arguments)


def _list(arguments: argparse.Namespace) -> int:
    import orjson

    from conformance.adapters import install

    rows: list[dict[str, Any]] = [
        {
            "name": each.name,
            "version": each.version,
            "language": each.language,
            "installed": install.is_installed(each),
            "providers": list(each.providers),
            "title": each.title,
        }
        for each in _definitions(arguments)
    ]
    if arguments.format == "json":
        print(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
        return 0
    width = max([len(f"{row['name']}@{row['version']}") for row in rows], default=0)
    for row in rows:
        named = f"{row['name']}@{row['version']}".rstrip("@")
        here = "installed    " if row["installed"] else "not installed"
        print(f"{named:{width}}  {row['language']:6}  {here}  {', '.join(row['providers'])}")
    return 0


def _install(arguments: argparse.Namespace) -> int:
    from conformance.adapters import definition

    for chosen in [definition.load(name, _folder(arguments)) for name in arguments.names]:
        print(f"{chosen.name}@{chosen.version}: {_installed(chosen)}")
    return 0


def _installed(chosen: "AdapterDefinition") -> Path:
    """Return the environment of an adapter, made where it is not there yet, telling what is done."""
    from conformance.adapters import install

    return install.install(chosen, lambda text: complain(f"{chosen.name}@{chosen.version}: {text}"))


def _run(arguments: argparse.Namespace) -> int:
    # Imported here, as below, because the harness loads httpx, which the list of adapters need not wait for.
    import orjson

    from conformance.adapters.summary import summary
    from conformance.reporting.renderers.adapter import render
    from conformance.results.files import write

    plan = _plan(arguments)
    results, cases = _watched(plan, arguments)
    if arguments.results:
        write(Path(arguments.results), results)
    told = summary(results, cases, strict=plan.strict)
    if arguments.format == "json":
        print(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())
    else:
        print("".join(render(told, painter(), every=arguments.all)), end="")
    if not told["played"]:
        raise Unusable(f"nothing was played: the claims of {plan.provider} rule out every scenario that was chosen")
    if arguments.baseline:
        return _held(results, arguments)
    return _code([told])


def _matrix(arguments: argparse.Namespace) -> int:
    from conformance.adapters import runs
    from conformance.adapters.summary import summary
    from conformance.reporting.renderers.adapter import render_line
    from conformance.resources import folder
    from conformance.results.files import write

    target = Path(arguments.results) if arguments.results else folder("reports") / "results" / "adapters"
    told = []
    failed = 0
    for chosen in _definitions(arguments):
        for provider in chosen.providers:
            try:
                plan = _of(chosen, provider, arguments)
                if arguments.resume and runs.is_done(target, plan):
                    print(f"{plan.name} with {provider}: done before")
                    continue
                results, cases = _watched(plan, arguments)
            except ConformanceError as error:
                complain(f"{chosen.name} with {provider}: {error}")
                failed += 1
                continue
            write(target, results)
            told.append(summary(results, cases, strict=False))
            print(render_line(told[-1], painter()), flush=True)
    return 2 if failed else _code(told)


def _plan(arguments: argparse.Namespace) -> "Plan":
    """Return what is to be run; raises Unusable where it is not told who."""
    from dataclasses import replace

    from conformance.adapters import definition

    if bool(arguments.name) is bool(arguments.driver):
        message = "name an adapter (see `conformance adapter list`) or give a --driver, not both"
        raise Unusable(message)
    if arguments.name:
        chosen = definition.load(arguments.name, _folder(arguments))
        plan = _of(chosen, arguments.provider or chosen.providers[0], arguments)
    else:
        plan = _of_command(arguments)
    variants = (arguments.variant,) if arguments.variant else plan.variants
    model = arguments.model or plan.model
    return replace(plan, model=model, variants=variants, strict=arguments.strict)


def _of(chosen: "AdapterDefinition", provider: str, arguments: argparse.Namespace) -> "Plan":
    """Return the plan of an adapter with a provider, installed where that is asked for."""
    from dataclasses import replace

    from conformance.adapters import install, runs

    if arguments.install:
        _installed(chosen)
    driver = install.driver(chosen, arguments.seconds)
    driver = replace(driver, environment={**driver.environment, **dict(_variables(arguments))})
    plan = runs.plan_of(chosen, provider, driver)
    return replace(plan, scenarios=tuple(arguments.scenario))


def _of_command(arguments: argparse.Namespace) -> "Plan":
    from conformance.adapters.driver import SECONDS, Driver
    from conformance.adapters.runs import OWN, Plan

    if not arguments.provider:
        message = "say whom to play with --provider; see `conformance list providers`"
        raise Unusable(message)
    try:
        words = tuple(shlex.split(arguments.driver))
    except ValueError as error:
        raise Unusable(f"--driver {arguments.driver!r} is no command: {error}") from None
    if not words:
        message = "--driver is empty; give the command that runs the driver"
        raise Unusable(message)
    variables = dict(_variables(arguments))
    driver = Driver(words, Path.cwd(), variables, arguments.seconds or SECONDS)
    return Plan(OWN, driver, arguments.provider, scenarios=tuple(arguments.scenario))


def _variables(arguments: argparse.Namespace) -> Iterator[tuple[str, str]]:
    for given in getattr(arguments, "env", ()):
        name, equals, value = given.partition("=")
        if not equals and name not in os.environ:
            raise Unusable(f"--env {name}: this variable is not set; give it a value with {name}=…")
        yield name, value if equals else os.environ[name]


def _watched(plan: "Plan", arguments: argparse.Namespace) -> tuple["Results", tuple["Run", ...]]:
    """Run a plan, tell how far it is, and keep what passed where that is asked for."""
    from conformance.adapters import recording, runs

    progress = Progress(waits=True)
    today = datetime.now(UTC).date().isoformat()
    folder = getattr(arguments, "keep", "")

    def heard(run: "Run", done: int, of: int) -> None:
        progress.tell(f"{plan.name} with {plan.provider}: {done} of {of} cases, {run.case.name}")
        if folder and run.conversation:
            about = {"provider": plan.provider, "date": today}
            recording.keep(Path(folder), f"{plan.name}.{plan.provider}.{run.case.name}", run.conversation, about)

    try:
        return runs.run(plan, arguments.jobs, heard)
    finally:
        progress.clear()


def _held(results: "Results", arguments: argparse.Namespace) -> int:
    """Hold the results against a baseline; entries about what was not run are left alone."""
    from conformance import baseline
    from conformance.gate import facts, judge
    from conformance.reporting.renderers.gate import render

    entries = baseline.load(Path(arguments.baseline))
    if arguments.scenario or arguments.variant:
        every = facts(results)
        entries = tuple([entry for entry in entries if any(entry.covers(fact.names) for fact in every)])
    judgement = judge([results], entries, datetime.now(UTC).date().isoformat())
    out = sys.stderr if arguments.format == "json" else sys.stdout
    print("".join(render(judgement, painter())), end="", file=out)
    return 2 if judgement.errored else int(not judgement.passes)


def _code(told: Sequence[Mapping[str, Any]]) -> int:
    """Return the exit code of summaries."""
    met = {grade for each in told for grade, count in each["grades"].items() if count}
    return 2 if "errored" in met else int(bool(met & {"fails", "untested"}))


def _definitions(arguments: argparse.Namespace) -> "list[AdapterDefinition]":
    """Return the adapters that are meant, in their order; raises UnknownName where a glob fits none."""
    from fnmatch import fnmatchcase

    from conformance.adapters import definition
    from conformance.errors import UnknownName

    known = definition.names(_folder(arguments))
    globs = getattr(arguments, "only", ())
    for glob in globs:
        if not any(fnmatchcase(name, glob) for name in known):
            raise UnknownName("adapter", glob, known)
    chosen = [name for name in known if not globs or any(fnmatchcase(name, glob) for glob in globs)]
    return [definition.load(name, _folder(arguments)) for name in chosen]


def _folder(arguments: argparse.Namespace) -> Path:
    from conformance.adapters.definition import FOLDER

    return Path(arguments.adapters) if arguments.adapters else FOLDER
