"""What checking costs in instructions, which other work on the machine does not disturb; needs valgrind.

    python -m tests.benchmarks.instructions [--json FILE] [--write-baseline]

Each subject runs in a process of its own under cachegrind, once without and once with the work; what counts is the
difference. The floor is `orjson.loads` of every line and of every payload of an event. Exit code 1 if a ratio exceeds
the committed one by more than 5 %, and 5 if valgrind is not installed, so that nothing was counted.
"""

import argparse
import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tabulate import tabulate

from tests.benchmarks import corpus
from tests.benchmarks import counted as counted_subjects
from tests.benchmarks.__main__ import written
from tests.benchmarks.counted import SUBJECTS

BASELINE: Final = Path(__file__).with_name("instructions.json")
MAX_REGRESSION: Final = 1.05
NOT_COUNTED: Final = 5
FLOOR: Final = "floor"
EXCHANGES: Final = 60
BOUNDS: Final[Mapping[str, float]] = {"session of 60: command, provider": 3.0, "recorded: command, provider": 7.0}
_REFERENCES: Final = re.compile(r"I\s+refs:\s+([\d,]+)")


def corpora() -> dict[str, list[corpus.Session]]:
    source = random.Random(corpus.SEED)  # noqa: S311 — repeatable, not secret
    return {"session of 60": [corpus._session(source, EXCHANGES)], "recorded": corpus.recorded()}


def counted(subject: str, times: int, whole: Path, small: Path) -> int:
    """Return how many instructions a process takes that runs a subject on a small file, then so often on the whole."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={os.devnull}", sys.executable]
    words = [*command, "-m", counted_subjects.__name__, subject, str(times), str(whole), str(small)]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    found = _REFERENCES.search(done.stderr)
    assert found is not None, done.stderr
    return int(found[1].replace(",", ""))


def ratios() -> dict[str, float]:
    """Print the instructions of each subject, and return the ratios to the floor."""
    found: dict[str, float] = {}
    for name, sessions in corpora().items():
        with tempfile.TemporaryDirectory() as scratch:
            whole, small = Path(scratch) / "whole.jsonl", Path(scratch) / "small.jsonl"
            written(sessions, whole)
            written([sessions[0][:2]], small)
            counts = {each: counted(each, 1, whole, small) - counted(each, 0, whole, small) for each in SUBJECTS}
        rows = []
        for subject, count in counts.items():
            ratio = count / counts[FLOOR]
            label = f"{name}: {subject}"
            if subject != FLOOR:
                found[label] = round(ratio, 3)
            rows.append([subject, f"{count / 1e6:.1f} M", f"{ratio:.2f}", f"{BOUNDS.get(label, '')}"])
        print(f"\n{name}")
        print(tabulate(rows, headers=["", "instructions", "ratio", "bound"], disable_numparse=True))
    return found


def regressions(found: Mapping[str, float], baseline: Mapping[str, float]) -> list[str]:
    """Return a line for each ratio that exceeds the baseline's by more than is allowed."""
    return [
        f"{name}: {found[name]:.2f}, {found[name] / before:.3f} times the baseline's {before:.2f}"
        for name, before in baseline.items()
        if name in found and found[name] > MAX_REGRESSION * before
    ]


def machine() -> dict[str, Any]:
    """Return what the counts depend on: the interpreter's build, and the processor, by which libraries choose code."""
    return {
        "python": platform.python_version(),
        "build": " ".join(platform.python_build()),
        "compiler": platform.python_compiler(),
        "machine": platform.machine(),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the ratios to FILE")
    parser.add_argument("--write-baseline", action="store_true", help=f"write them to {BASELINE.name}")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("NOT RUN: valgrind is not installed, so no instruction was counted", file=sys.stderr)
        return NOT_COUNTED
    found = ratios()
    report = json.dumps({**machine(), "ratios": found}, indent=2) + "\n"
    for path in (arguments.json, BASELINE if arguments.write_baseline else None):
        if path is not None:
            path.write_text(report, "utf-8")
    worse = regressions(found, json.loads(BASELINE.read_text("utf-8"))["ratios"]) if BASELINE.exists() else []
    for line in worse:
        print(line, file=sys.stderr)
    return int(bool(worse))


if __name__ == "__main__":
    raise SystemExit(main())
