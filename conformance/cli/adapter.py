"""Test an SDK or agent loop against a simulated strict provider.

A driver is a small program, in any language, that runs one job through one adapter. It gets the job as one JSON
document on standard input (schemas/files/adapter-job.json) and prints the answer as the last line of its standard
output (schemas/files/adapter-answer.json). Its requests go to the base URL of the job; the adapter needs no changes.
Each case runs in its own process, with a timeout and without your keys and proxies.

By default all requests are answered and checked afterwards, so one run shows every problem. With --strict, a request
that the provider would reject gets the provider's error, like the real API.

A broken MUST fails, a broken SHOULD warns. A driver that crashes is an error and says nothing about the adapter. A
case whose facts could not be checked is untested, and fails.
"""

import argparse
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.adapter_arguments import configure_actions
from conformance.errors import ConformanceError, Unusable
from conformance.terminal import ProgressLine, painter, print_error

if TYPE_CHECKING:
    from conformance.adapters.case import CaseRun
    from conformance.adapters.definition import AdapterDefinition
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
  conformance adapter install pydantic-ai litellm@1.83.3
  conformance adapter matrix --only 'langchain-*' --resume
  conformance adapter issue openai-sdk --rule shape/message     # a bug report for its tracker
  conformance list scenarios                        # the scenarios that are run
  conformance check sessions --provider deepseek    # check again what --keep has written"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    configure_actions(parser)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the action; return 1 if a case failed or was untested, and 2 if one errored."""
    actions = {"list": _list, "install": _install, "run": _run, "matrix": _matrix, "issue": _issue}
    return actions[arguments.action](arguments)


def _list(arguments: argparse.Namespace) -> int:
    import orjson

    from conformance.adapters import install

    rows: list[dict[str, Any]] = [
        {
            "name": each.name,
            "version": each.version,
            "language": each.language,
            "protocol": each.protocol,
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
        print(f"{named:{width}}  {row['language']:6}  {row['protocol']:9}  {here}  {', '.join(row['providers'])}")
    return 0


def _install(arguments: argparse.Namespace) -> int:
    from conformance.adapters import definition

    for chosen in [definition.load(name, _folder(arguments)) for name in arguments.names]:
        print(f"{chosen.name}@{chosen.version}: {_installed(chosen)}")
    return 0


def _installed(chosen: "AdapterDefinition") -> Path:
    """Return the environment of an adapter; create it if necessary, and log the steps."""
    from conformance.adapters import install

    return install.install(chosen, lambda text: print_error(f"{chosen.name}@{chosen.version}: {text}"))


def _run(arguments: argparse.Namespace) -> int:
    # Imported here and below because these modules load httpx, which `adapter list` does not need.
    import orjson

    from conformance.adapters.summary import summary
    from conformance.reporting.renderers.adapter import render
    from conformance.results.files import write

    entries = _baseline(arguments)
    plan = _plan(arguments)
    results, cases = _run_plan(plan, arguments)
    if arguments.results:
        write(Path(arguments.results), results, plan.driver.scrubber)
    report = summary(results, cases, strict=plan.strict)
    if arguments.format == "json":
        shown = orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
    else:
        shown = "".join(render(report, painter(), every=arguments.all))
    secrets = plan.driver.scrubber
    print(shown if secrets is None else secrets.text(shown), end="")
    if not report["played"]:
        raise Unusable(f"no case was run: the claims of {plan.provider} rule out every chosen scenario")
    if arguments.baseline:
        return _compare(results, entries, arguments)
    if arguments.write_baseline:
        return _write_baseline(results, Path(arguments.write_baseline), secrets)
    return _code([report])


def _matrix(arguments: argparse.Namespace) -> int:
    from conformance import artifacts
    from conformance.resources import checkout_folder

    if arguments.results:
        target = Path(arguments.results)
    else:
        target = checkout_folder("reports", "--results DIR is required") / "results" / "adapters"
    with artifacts.locked(target):
        return _run_matrix(target, arguments)


def _run_matrix(target: Path, arguments: argparse.Namespace) -> int:
    from conformance.adapters import runs
    from conformance.adapters.summary import summary
    from conformance.reporting.renderers.adapter import render_line
    from conformance.results.files import write

    reports = []
    failed = 0
    for chosen in _definitions(arguments):
        for provider in chosen.providers:
            try:
                plan = _adapter_plan(chosen, provider, arguments)
                if arguments.resume and runs.is_done(target, plan):
                    print(f"{plan.name} with {provider}: skipped, completed before")
                    continue
                results, cases = _run_plan(plan, arguments)
            except ConformanceError as error:
                print_error(f"{chosen.name} with {provider}: {error}")
                failed += 1
                continue
            write(target, results, plan.driver.scrubber)
            reports.append(summary(results, cases, strict=False))
            print(render_line(reports[-1], painter()), flush=True)
    return 2 if failed else _code(reports)


def _issue(arguments: argparse.Namespace) -> int:
    from conformance.adapters import issue
    from conformance.reporting.renderers.issue import render
    from conformance.resources import folder
    from conformance.results.files import read_all, read_shipped

    name, _, version = arguments.name.partition("@")
    named = "@".join(filter(None, [name, arguments.version or version]))
    if arguments.run:
        found = issue.find([_rerun(named, arguments)], named, arguments.rule)
    else:
        known = read_all([Path(arguments.results)]) if arguments.results else read_shipped(folder("reports")).values()
        found = issue.find(tuple(known), named, arguments.rule, arguments.provider)
    print(render(found), end="")
    return 0


def _rerun(named: str, arguments: argparse.Namespace) -> "Results":
    """Run an adapter for a bug report, and return its results."""
    from conformance.adapters import definition

    arguments.jobs = os.cpu_count() or 1
    chosen = definition.load(named, _folder(arguments))
    plan = _adapter_plan(chosen, arguments.provider or chosen.providers[0], arguments)
    return _run_plan(plan, arguments)[0]


def _plan(arguments: argparse.Namespace) -> "RunPlan":
    """Return what to run; raises Unusable if the arguments do not name an adapter or a driver."""
    from dataclasses import replace

    from conformance.adapters import definition

    if bool(arguments.name) is bool(arguments.driver):
        message = "name an adapter (see `conformance adapter list`) or use --driver, but not both"
        raise Unusable(message)
    if arguments.name:
        chosen = definition.load(arguments.name, _folder(arguments))
        if arguments.protocol not in ("", chosen.protocol):
            raise Unusable(f"--protocol is for --driver: {chosen.name} speaks {chosen.protocol}")
        plan = _adapter_plan(chosen, arguments.provider or chosen.providers[0], arguments)
    else:
        plan = _driver_plan(arguments)
    variants = (arguments.variant,) if arguments.variant else plan.variants
    model = arguments.model or plan.model
    return replace(plan, model=model, variants=variants, strict=arguments.strict)


def _adapter_plan(chosen: "AdapterDefinition", provider: str, arguments: argparse.Namespace) -> "RunPlan":
    """Return the plan for an adapter and a provider; install the adapter first if --install is given."""
    from dataclasses import replace

    from conformance.adapters import install, runs

    if arguments.install:
        _installed(chosen)
    driver = install.driver(chosen, arguments.seconds)
    driver = replace(driver, environment={**driver.environment, **dict(_variables(arguments))})
    plan = runs.plan_for(chosen, provider, driver)
    return replace(plan, scenarios=tuple(arguments.scenario))


def _driver_plan(arguments: argparse.Namespace) -> "RunPlan":
    from conformance.adapters.driver import SECONDS, Driver
    from conformance.adapters.runs import UNNAMED, RunPlan
    from conformance.profiles import load_profile
    from conformance.suite.options import on_wire

    if not arguments.provider:
        message = "--provider is required; see `conformance list providers`"
        raise Unusable(message)
    try:
        words = tuple(shlex.split(arguments.driver))
    except ValueError as error:
        raise Unusable(f"--driver {arguments.driver!r} is not a command: {error}") from None
    if not words:
        message = "--driver is empty; it must be the command that runs the driver"
        raise Unusable(message)
    variables = dict(_variables(arguments))
    driver = Driver(words, Path.cwd(), variables, arguments.seconds or SECONDS)
    profile = on_wire(load_profile(arguments.provider), arguments.protocol)
    return RunPlan(UNNAMED, driver, profile, scenarios=tuple(arguments.scenario))


def _variables(arguments: argparse.Namespace) -> Iterator[tuple[str, str]]:
    for given in getattr(arguments, "env", ()):
        name, equals, value = given.partition("=")
        if not equals and name not in os.environ:
            raise Unusable(f"--env {name}: the variable is not set; use {name}=VALUE")
        yield name, value if equals else os.environ[name]


def _run_plan(plan: "RunPlan", arguments: argparse.Namespace) -> tuple["Results", tuple["CaseRun", ...]]:
    """Run a plan, show its progress, and write the exchanges if --keep is given."""
    from conformance.adapters import runs

    progress = ProgressLine(report_at_end=True)
    today = datetime.now(UTC).date().isoformat()
    folder = getattr(arguments, "keep", "")
    secrets = plan.driver.scrubber

    def finished(run: "CaseRun", done: int, of: int) -> None:
        progress.show(f"{plan.name} with {plan.provider}: {done} of {of} cases, {run.case.name}")
        if folder and run.conversation:
            about = {"provider": plan.provider, "date": today}
            name = f"{plan.name}.{plan.provider}.{run.case.name}"
            runs.write_recording(Path(folder), name, run.conversation, about, secrets)

    try:
        return runs.run(plan, arguments.jobs, finished)
    finally:
        progress.clear()


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
    return baseline.load(Path(arguments.baseline))


def _write_baseline(results: "Results", path: Path, secrets: "Scrubber | None") -> int:
    """Write an entry for each failure; errors are no failures of the adapter and get none."""
    from conformance import artifacts, baseline
    from conformance.adapters.summary import failures_as_entries
    from conformance.gate import check_results
    from conformance.reporting.text import plural
    from conformance.results import Status

    checked = check_results(results)
    entries = failures_as_entries(checked, datetime.now(UTC).date().isoformat())
    text = baseline.dump(entries)
    artifacts.write(path, text if secrets is None else secrets.text(text), private=secrets is not None)
    print_error(f"{plural(len(entries), 'failure')} written to {path}; replace each reason with why it is not fixed")
    return 2 if any(each.status is Status.ERRORED for each in checked) else 0


def _compare(results: "Results", entries: "Sequence[Entry]", arguments: argparse.Namespace) -> int:
    """Compare the results with a baseline, and ignore its entries about cases that were not run."""
    from conformance.gate import check_results, evaluate
    from conformance.reporting.renderers.gate import render

    if arguments.scenario or arguments.variant:
        seen = check_results(results)
        entries = tuple([entry for entry in entries if any(entry.covers(result.names) for result in seen)])
    gate = evaluate([results], entries, datetime.now(UTC).date().isoformat())
    out = sys.stderr if arguments.format == "json" else sys.stdout
    print("".join(render(gate, painter())), end="", file=out)
    return 2 if gate.errored else int(not gate.passes)


def _code(reports: Sequence[Mapping[str, Any]]) -> int:
    """Return the exit code for the reports of some runs."""
    met = {grade for each in reports for grade, count in each["grades"].items() if count}
    return 2 if "errored" in met else int(bool(met & {"fails", "untested"}))


def _definitions(arguments: argparse.Namespace) -> "list[AdapterDefinition]":
    """Return the chosen adapters, sorted; raises UnknownName for a glob that matches none."""
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
