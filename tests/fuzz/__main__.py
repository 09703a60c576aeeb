"""Fuzz the project: `python -m tests.fuzz --help`."""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tabulate import tabulate

from conformance import rules
from conformance.arguments import positive, seconds
from tests.fuzz.running import Failure, Job, Report, attempted, divided, merged, run, shrunk, write
from tests.fuzz.targets import TARGETS

_INPUTS = 20_000
_ABOUT = (
    "Mutate real exchanges and files. For each target it prints the inputs, the share that reaches rules, how many"
    " rules judged something, how many an input, and how many found something."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz the targets; return 1 if something failed."""
    options = parser().parse_args(arguments)
    if options.input is not None:
        return _repeat(options.input)
    names = options.target or list(TARGETS)
    print(f"seed {options.seed}" + (f", corpus {options.corpus}" if options.corpus else ""), flush=True)
    if options.jobs == 1:
        reports = {name: _noted(name, merged([*map(run, jobs)])) for name, jobs in _jobs(names, options)}
    else:
        # New processes, since a fork of a process that has threads may hang.
        with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
            reports = {name: _noted(name, merged([*pool.map(run, jobs)])) for name, jobs in _jobs(names, options)}
    print(_table(reports))
    whole = merged([*reports.values()])
    known = {rule.id for rule in rules.load()}
    found = len(whole.reached.failed)
    print(f"{len(whole.reached.judged)} of {len(known)} rules judged something, {found} found a fault")
    if unreached := sorted(known - {*whole.reached.judged}):
        print("not reached:", *unreached)
    if options.reached is not None:
        options.reached.write_text(_by_target(reports), "utf-8")
    for failure in whole.failures.values():
        _show(shrunk(failure), options.out, options.seed)
    share = whole.reached.inputs / whole.inputs
    if share < options.at_least:
        print(f"only {share:.0%} of the inputs reach rules, expected {options.at_least:.0%}")
    return 1 if whole.failures or share < options.at_least else 0


def _table(reports: Mapping[str, Report]) -> str:
    """Return what came of each target: its inputs, those that reached rules, and how many rules judged them."""
    rows = []
    for name, report in [*reports.items(), ("total", merged([*reports.values()]))]:
        inputs, reached = report.inputs, report.reached
        rules_each = reached.judged.total() / max(reached.inputs, 1)
        speed = f"{inputs / max(report.seconds, 0.001):.0f}"
        shown = (
            f"{reached.inputs / max(inputs, 1):.0%}",
            len(reached.judged),
            f"{rules_each:.0f}",
            len(reached.failed),
        )
        rows.append((name, inputs, *shown, speed, len(report.failures)))
    heads = ["target", "inputs", "reach rules", "rules", "each", "found", "a CPU second", "faults"]
    return tabulate(rows, headers=heads, disable_numparse=True)


def _by_target(reports: Mapping[str, Report]) -> str:
    """Return, as JSON, how many inputs of each target each rule judged, and in how many it found something."""
    found = {
        name: {
            rule: {"judged": count, "failed": report.reached.failed[rule]}
            for rule, count in sorted(report.reached.judged.items())
        }
        for name, report in reports.items()
    }
    return json.dumps(found, indent=1) + "\n"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=_ABOUT)
    parser.add_argument("--target", action="append", choices=TARGETS, help="what to fuzz (repeatable); default: all")
    parser.add_argument("--inputs", type=positive, metavar="N", help=f"inputs of all targets; default: {_INPUTS}")
    parser.add_argument("--seconds", type=seconds, metavar="N", help="stop after about N seconds, divided by target")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed gives the same inputs")
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="processes; does not change the inputs")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="also mutate the recordings in this folder")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where to write failing inputs; default: a new folder")
    parser.add_argument("--reached", type=Path, metavar="FILE", help="write as JSON which rules each target reached")
    parser.add_argument(
        "--at-least",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="fail if a smaller share of the inputs reaches rules; from 0 to 1",
    )
    parser.add_argument("--input", type=Path, metavar="FILE", help="only run the input in a file written by --out")
    return parser


def _jobs(names: Sequence[str], options: argparse.Namespace) -> Iterator[tuple[str, list[Job]]]:
    """Yield each target with the jobs for all processes."""
    shares = sum(TARGETS[name].share for name in names)
    time = None if options.seconds is None else options.seconds / len(names)
    total = options.inputs or (None if options.seconds else _INPUTS)
    for name in names:
        inputs = None if total is None else -(-total * TARGETS[name].share // shares)
        yield name, divided(Job(name, options.seed, options.corpus, inputs=inputs, seconds=time), options.jobs)


def _noted(name: str, report: Report) -> Report:
    """Print what came of a target, in case that the run is interrupted later."""
    print(f"{name}: {report.inputs} inputs, {len(report.failures)} faults", *report.failures, sep="\n  ", flush=True)
    return report


def _show(failure: Failure, folder: Path | None, seed: int) -> None:
    path = write(failure, folder or Path(tempfile.mkdtemp(prefix="conformance-fuzz-")))
    print(f"\n{failure.target}: {failure.key}, {failure.times} times")
    print(f"seed {seed}, input {failure.number}; smallest: {path}")
    print(failure.message)


def _repeat(path: Path) -> int:
    """Run the input in a file."""
    saved = json.loads(path.read_text("utf-8"))
    with tempfile.TemporaryDirectory(prefix="conformance-fuzz-") as name:
        attempt = attempted(TARGETS[saved["target"]], saved["input"], Path(name))
    print(attempt.message or f"no fault: {attempt.outcome!r:.500}")
    return 1 if attempt.key else 0


if __name__ == "__main__":
    sys.exit(main())
