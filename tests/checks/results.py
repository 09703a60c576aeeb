"""The committed results are what a replay of the cassettes gives today, and the reports are made from them.

python -m tests.checks.results
"""

import tempfile
from pathlib import Path

from conformance.cli import main as conformance
from conformance.resources import folder
from conformance.suite.replay import Replay, recorded, replay

JOBS = 2


def differing(committed: Path, fresh: Path) -> list[str]:
    """Return the files that differ, or stand on one side only; results of adapters and of recordings lie elsewhere."""
    names = {path.name for path in (*committed.glob("*.json"), *fresh.glob("*.json"))}
    sides = {name: [each / name for each in (committed, fresh)] for name in sorted(names)}
    return [
        name
        for name, (left, right) in sides.items()
        if not left.exists() or not right.exists() or left.read_bytes() != right.read_bytes()
    ]


def main() -> int:
    problems: list[str] = []

    def told(each: Replay) -> None:
        problems.extend([f"{each.provider}, {each.model}: {each.problem}"] if each.problem else [])

    with tempfile.TemporaryDirectory() as scratch:
        replay(recorded(folder("cassettes")), folder("cassettes"), Path(scratch), JOBS, told)
        stale = differing(folder("reports") / "results", Path(scratch))
    for line in (*problems, *(f"reports/results/{name} is stale; run `conformance replay --all`" for name in stale)):
        print(line)
    if not problems and not stale:
        print("results: all as a replay gives today")
    return int(bool(problems or stale)) or conformance(["report", "--check"])


if __name__ == "__main__":
    raise SystemExit(main())
