"""What the actions of `conformance adapter` share: arguments, the plan of a run, and the run itself."""

import argparse
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from conformance.arguments import positive, seconds
from conformance.terminal import ProgressLine, print_error

if TYPE_CHECKING:
    from conformance.adapters.case import CaseRun
    from conformance.adapters.definition import AdapterDefinition
    from conformance.adapters.runs import OnNetwork, RunPlan
    from conformance.results.runs import Results


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Add the option for other definitions of adapters, which `definitions_folder` reads."""
    parser.add_argument("--adapters", metavar="DIR", default="", help="use the adapter definitions in DIR")


def add_cases(parser: argparse.ArgumentParser, results: str) -> None:
    """Add the options of every run; `results` is the help of --results."""
    parser.add_argument("--install", action="store_true", help="install adapters that are not installed")
    parser.add_argument("--results", metavar="DIR", default="", help=results)
    add_playing(parser)


def add_playing(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which scenarios drivers are taken through, and how."""
    add = parser.add_argument
    add("--scenario", metavar="SCENARIO", action="append", default=[], help="only scenarios that match; repeatable")
    add("--allow-network", action="store_true", help="let drivers use the network (default: the simulator only)")
    add("--seconds", metavar="N", type=seconds, help="timeout of a case (default: the adapter's own, else 60)")
    add(
        "--jobs",
        metavar="N",
        type=positive,
        default=os.cpu_count() or 1,
        help="drivers to run at once (default: one per CPU)",
    )


def definitions(folder: Path, globs: Sequence[str] = ()) -> "list[AdapterDefinition]":
    """Return the chosen adapters, sorted; raises UnknownName for a glob that matches none."""
    from fnmatch import fnmatchcase

    from conformance.adapters import definition
    from conformance.errors import UnknownName

    known = definition.names(folder)
    for glob in globs:
        if not any(fnmatchcase(name, glob) for name in known):
            raise UnknownName("adapter", glob, known)
    chosen = [name for name in known if not globs or any(fnmatchcase(name, glob) for glob in globs)]
    return [definition.load(name, folder) for name in chosen]


def definitions_folder(arguments: argparse.Namespace) -> Path:
    """Return the folder that --adapters names, by default that of this project."""
    from conformance.adapters.definition import FOLDER

    return Path(arguments.adapters) if arguments.adapters else FOLDER


def installed(chosen: "AdapterDefinition") -> Path:
    """Return the environment of an adapter; create it if necessary, and log the steps."""
    from conformance.adapters import install

    return install.install(chosen, lambda text: print_error(f"{chosen.name}@{chosen.version}: {text}"))


def plan(
    chosen: "AdapterDefinition",
    provider: str,
    arguments: argparse.Namespace,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> "RunPlan":
    """Return the plan for an adapter and a provider; install the adapter first if --install is given.

    `variables`: further variables of the driver's environment.
    """
    from dataclasses import replace

    from conformance.adapters import install, runs

    if arguments.install:
        installed(chosen)
    driver = install.driver(chosen, arguments.seconds)
    driver = replace(
        driver, environment={**driver.environment, **variables}, uses_network=getattr(arguments, "allow_network", False)
    )
    return replace(runs.plan_for(chosen, provider, driver), scenarios=tuple(arguments.scenario))


def run_plan(
    plan: "RunPlan", arguments: argparse.Namespace, on_network: "OnNetwork | None" = None
) -> tuple["Results", tuple["CaseRun", ...]]:
    """Run a plan, show its progress, and write the exchanges if --keep is given.

    `on_network` is called if drivers are not kept from the network; by default it is printed.
    """
    from dataclasses import replace

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
            if run.beside:
                runs.write_recording(Path(folder), f"{name}.beside", run.beside, about, secrets)

    try:
        results, cases = runs.run(plan, arguments.jobs, finished, on_network or print_network)
        return replace(results, run=replace(results.run, date=today)), cases
    finally:
        progress.clear()


def print_network(reason: str) -> None:
    """Print that drivers are not kept from the network."""
    print_error(f"drivers can use the network, because this system permits no network of loopback only: {reason}")


def exit_code(reports: Sequence[Mapping[str, Any]]) -> int:
    """Return the exit code for the reports of some runs."""
    met = {grade for each in reports for grade, count in each["grades"].items() if count}
    return 2 if "errored" in met else int(bool(met & {"fails", "untested"}))
