"""The committed results and reports are up to date: replaying the cassettes and writing the reports changes neither.

python -m tests.checks.results
"""

import tempfile
from pathlib import Path

from conformance.cli import main as conformance
from conformance.resources import folder
from conformance.suite.cassettes import Replay, recorded, replay
from tests.checks import differing_files

JOBS = 2


def main() -> int:
    problems: list[str] = []

    def collect(replayed: Replay) -> None:
        if replayed.problem:
            problems.append(f"{replayed.provider}, {replayed.model}: {replayed.problem}")

    with tempfile.TemporaryDirectory() as scratch:
        replay(recorded(folder("cassettes")), folder("cassettes"), Path(scratch), JOBS, collect)
        # Results of adapters and recordings are in folders of their own.
        stale = differing_files(folder("reports") / "results", Path(scratch), "*.json")
    for line in (
        *problems,
        *(f"reports/results/{name} is stale; run `conformance provider replay --all`" for name in stale),
    ):
        print(line)
    if not problems and not stale:
        print("results: up to date")
    return int(bool(problems or stale)) or conformance(["report", "--check"])


if __name__ == "__main__":
    raise SystemExit(main())
