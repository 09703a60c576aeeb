"""The simulated cassettes are what the simulator says today: recording them again changes nothing.

    python -m tests.checks.cassettes [--mend]

With --mend the stale ones are recorded again in their places.
"""

import argparse
import filecmp
import shutil
import tempfile
from pathlib import Path

from conformance import profiles
from conformance.resources import folder
from conformance.results import Evidence
from conformance.suite.record import record
from conformance.suite.run import Options
from conformance.transport.cassette import Shelf


def stale(committed: Path, fresh: Path) -> list[str]:
    """Return the files of one model that differ, or stand on one side only."""
    names = {path.name for path in (*committed.glob("*.yaml"), *fresh.glob("*.yaml"))}
    return sorted(
        name
        for name in names
        if not (committed / name).exists()
        or not (fresh / name).exists()
        or not filecmp.cmp(committed / name, fresh / name, shallow=False)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mend", action="store_true", help="record the stale cassettes again")
    mend = parser.parse_args().mend
    root = folder("cassettes")
    wrong = 0
    for provider in profiles.names():
        shelf = Shelf(root, provider)
        for model, entry in shelf.manifest().items():
            if entry.evidence is not Evidence.SIMULATED:
                continue
            with tempfile.TemporaryDirectory() as scratch:
                record(Options(provider, Path(scratch), entry.date, model=model))
                fresh = Shelf(Path(scratch), provider).path(model, "x").parent
                committed = shelf.path(model, "x").parent
                names = stale(committed, fresh)
                if names and mend:
                    shutil.rmtree(committed)
                    shutil.copytree(fresh, committed)
                elif names:
                    wrong += len(names)
                    print(f"{provider}/{model}: stale: {', '.join(names)}; record again: {entry.again}")
    print("cassettes: all as the simulator says today" if not wrong else f"cassettes: {wrong} stale")
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
