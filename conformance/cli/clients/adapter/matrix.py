"""Run the scenarios with all adapters and all their providers."""

import argparse
from functools import cache
from pathlib import Path
from typing import Final

from conformance import artifacts
from conformance.cli import _adapters
from conformance.errors import ConformanceError
from conformance.resources import checkout_folder
from conformance.terminal import painter, print_error

EXAMPLES: Final = """\
  conformance adapter matrix --install
  conformance adapter matrix --only 'langchain-*' --resume"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("--only", metavar="ADAPTER", action="append", default=[], help="only adapters that match this glob; repeatable")
    add("--resume", action="store_true", help="skip completed runs found in DIR")
    _adapters.add_cases(
        parser, "where to write the results (default: reports/results/adapters; required outside a checkout)"
    )
    _adapters.add_folder(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print one line per run; return 1 if a case failed or was untested, and 2 if one errored."""
    if arguments.results:
        target = Path(arguments.results)
    else:
        target = checkout_folder("reports", "--results DIR is required") / "results" / "adapters"
    with artifacts.locked(target):
        return _run_all(target, arguments)


def _run_all(target: Path, arguments: argparse.Namespace) -> int:
    # Imported here because these modules load httpx, which --help does not need.
    from conformance.adapters import runs
    from conformance.adapters.summary import summary
    from conformance.reporting.renderers.adapter import render_line
    from conformance.results.files import write

    reports = []
    failed = 0
    # One line for all runs.
    on_network = cache(_adapters.print_network)
    for chosen in _adapters.definitions(_adapters.definitions_folder(arguments), arguments.only):
        for provider in chosen.providers:
            try:
                plan = _adapters.plan(chosen, provider, arguments)
                if arguments.resume and runs.is_done(target, plan):
                    print(f"{plan.name} with {provider}: skipped, completed before")
                    continue
                results, cases = _adapters.run_plan(plan, arguments, on_network)
            except ConformanceError as error:
                print_error(f"{chosen.name} with {provider}: {error}")
                failed += 1
                continue
            write(target, results, plan.driver.scrubber)
            reports.append(summary(results, cases, strict=False))
            print(render_line(reports[-1], painter()), flush=True)
    return 2 if failed else _adapters.exit_code(reports)
