"""Change the code and see whether a test notices: `python -m tests.mutants --help`."""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import orjson

from conformance import artifacts
from conformance.arguments import positive, seconds
from tests.mutants.changes import Change, changes
from tests.mutants.choosing import SECONDS, Choice
from tests.mutants.drawing import draw, equivalents
from tests.mutants.ledger import Ledger
from tests.mutants.measuring import measure
from tests.mutants.report import render_score, score
from tests.mutants.running import Fate, Verdict, Worker, copied, made, sources, tried

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a sample of changes; return 1 if fewer than the required share are noticed."""
    options = parser().parse_args(arguments)
    every = [change for file in sources(ROOT) for change in changes(ROOT, file)]
    sample = draw(every, options.seed, options.sample, equivalents())
    print(f"{len(sample.drawn)} of {len(every)} changes, seed {options.seed}", flush=True)
    with copied(ROOT) as tree, tempfile.TemporaryDirectory() as name:
        measured = options.measured or Path(name)
        if not (measured / SECONDS).is_file():
            measure(tree, measured, options.tests)
        ends = time.monotonic() + options.seconds if options.seconds else float("inf")
        with closing(Worker(tree, options.tests)) as worker:
            trial = Trial(tree, Choice(measured, tree), Ledger(options.resume, tree), worker)
            verdicts = dict(_verdicts(sample.drawn, trial, ends))
    found = score(options.seed, verdicts, sample.equivalent)
    print(*render_score(found), sep="\n")
    if options.out:
        artifacts.write(options.out, orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return 0 if found["share"] >= options.least else 1


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Change the code, and run its tests.")
    add = parser.add_argument
    add("tests", nargs="*", metavar="TEST", help="the tests that count; default: all that pytest runs")
    add("--sample", type=positive, default=300, metavar="N", help="how many changes to draw")
    add("--seed", type=int, default=0, metavar="N", help="the same seed draws the same changes")
    add("--seconds", type=seconds, metavar="N", help="stop after about N seconds")
    add("--least", type=float, default=0.9, metavar="SHARE", help="the share that must be noticed")
    add("--out", type=Path, metavar="FILE", help="where to write the score as JSON")
    add("--measured", type=Path, metavar="DIR", help="which lines each test runs: read from DIR, or kept there")
    add("--resume", type=Path, metavar="FILE", help="skip what FILE says was noticed in unchanged files; add to FILE")
    return parser


class Trial(NamedTuple):
    """What tries changes."""

    tree: Path
    choice: Choice
    ledger: Ledger
    worker: Worker

    def verdict(self, change: Change) -> Verdict:
        """Run the tests of a change in the worker, or in processes of their own if it acts at import."""
        tests = self.choice.tests(change)
        if not tests:
            return Verdict(Fate.UNTESTED)
        with made(self.tree, change) as (path, before, after):
            found = None
            if not self.choice.acts_at_import(change):
                found = self.worker.tried(path, before, after, tests)
            return found or tried(self.tree, self.choice.batches(tests))


def _verdicts(drawn: Sequence[Change], trial: Trial, ends: float) -> Iterator[tuple[Change, Verdict]]:
    carried = 0
    # What was missed before comes last, because it takes longest.
    for number, change in enumerate(sorted(drawn, key=trial.ledger.missed), 1):
        found = trial.ledger.noticed(change)
        if found is not None:
            carried += 1
        elif time.monotonic() > ends:
            print(f"stopped at change {number}", flush=True)
            break
        else:
            found = trial.verdict(change)
            trial.ledger.add(change, found)
            print(f"{number} {found.fate} {change} {found.by}", flush=True)
        if found.by:
            trial.choice.noticed(found.by)
        yield change, found
    print(f"{carried} verdicts are those of an earlier run", flush=True)


if __name__ == "__main__":
    sys.exit(main())
