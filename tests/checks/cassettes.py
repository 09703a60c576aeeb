"""The simulated cassettes are up to date: recording them again does not change them.

    python -m tests.checks.cassettes [--fix]

With --fix, stale cassettes are replaced.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

from conformance import profiles
from conformance.resources import folder
from conformance.results import Evidence
from conformance.suite.cassettes import record
from conformance.suite.options import Options
from conformance.transport.shelf import CassetteFolder
from tests.checks import differing_files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true", help="replace stale cassettes")
    fix = parser.parse_args().fix
    stale = 0
    for provider in profiles.names():
        cassette_folder = CassetteFolder(folder("cassettes"), provider)
        for model, entry in cassette_folder.manifest().items():
            if entry.evidence is not Evidence.SIMULATED:
                continue
            with tempfile.TemporaryDirectory() as scratch:
                record(Options(provider, Path(scratch), entry.date, model=model))
                fresh = CassetteFolder(Path(scratch), provider).path(model, "x").parent
                committed = cassette_folder.path(model, "x").parent
                names = differing_files(committed, fresh, "*.yaml")
                if names and fix:
                    shutil.rmtree(committed)
                    shutil.copytree(fresh, committed)
                elif names:
                    stale += len(names)
                    print(f"{provider}/{model}: stale: {', '.join(names)}; run `{entry.again}`")
    print(f"cassettes: {stale} stale" if stale else "cassettes: up to date")
    return int(bool(stale))


if __name__ == "__main__":
    raise SystemExit(main())
