"""Change the code and see whether a test notices: `python -m tests.mutants --help`."""

import argparse
import json
import random
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.arguments import positive, seconds
from tests.mutants.changes import Change, changes
from tests.mutants.choosing import Choice
from tests.mutants.running import Fate, copied, fate, measure, sources

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a sample of changes; return 1 if fewer than the required share are noticed."""
    options = parser().parse_args(arguments)
    every = [change for file in sources(ROOT) for change in changes(ROOT, file)]
    drawn = random.Random(options.seed).sample(every, min(options.sample, len(every)))  # noqa: S311
    print(f"{len(drawn)} of {len(every)} changes, seed {options.seed}", flush=True)
    with copied(ROOT) as tree:
        data, measured = options.coverage, ROOT
        if data is None:
            data, measured = measure(tree, options.tests), tree
        if options.keep_coverage:
            shutil.copy2(data, options.keep_coverage)
        ends = time.monotonic() + options.seconds if options.seconds else float("inf")
        fates = dict(_fates(tree, Choice(data, options.measured or measured), drawn, ends))
    return _report(fates, options)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Change the code, and run its tests.")
    parser.add_argument("tests", nargs="*", metavar="TEST", help="the tests that count; default: all that pytest runs")
    parser.add_argument("--sample", type=positive, default=300, metavar="N", help="how many changes to draw")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed draws the same changes")
    parser.add_argument("--seconds", type=seconds, metavar="N", help="stop after about N seconds")
    parser.add_argument("--least", type=float, default=0.9, metavar="SHARE", help="the share that must be noticed")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write the score as JSON")
    parser.add_argument("--coverage", type=Path, metavar="FILE", help="data of an earlier run, instead of a new one")
    parser.add_argument("--measured", type=Path, metavar="DIR", help="the tree in which --coverage was measured")
    parser.add_argument("--keep-coverage", type=Path, metavar="FILE", help="where to keep the data of this run")
    return parser


def _fates(tree: Path, choice: Choice, drawn: Sequence[Change], ends: float) -> Iterator[tuple[Change, Fate]]:
    for number, change in enumerate(drawn, 1):
        if time.monotonic() > ends:
            print(f"stopped after {number - 1} changes", flush=True)
            return
        lines = change.before.count("\n")
        found = fate(tree, change, choice.tests(change.file, change.line, change.line + lines))
        print(f"{number} {found} {change}", flush=True)
        yield change, found


def _report(fates: dict[Change, Fate], options: argparse.Namespace) -> int:
    noticed = sum(1 for each in fates.values() if each is Fate.KILLED)
    share = noticed / len(fates) if fates else 0.0
    print(f"\n{noticed} of {len(fates)} changes noticed: {share:.1%}")
    missed = [change for change, each in fates.items() if each is not Fate.KILLED]
    print(*missed, sep="\n")
    if options.out:
        score = {"seed": options.seed, "drawn": len(fates), "noticed": noticed, "share": round(share, 4)}
        listed = [{"at": f"{each.file}:{each.line}", "from": each.before, "to": each.after} for each in missed]
        options.out.write_text(json.dumps({**score, "missed": listed}, indent=2) + "\n", "utf-8")
    return 0 if share >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
