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
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from tabulate import tabulate

from tests.benchmarks import corpus
from tests.benchmarks.__main__ import written
from tests.benchmarks.peers import Part, by_command, loads_lines

BASELINE: Final = Path(__file__).with_name("instructions.json")
MAX_REGRESSION: Final = 1.05
NOT_COUNTED: Final = 5
FLOOR: Final = "floor"
EXCHANGES: Final = 60
BOUNDS: Final[Mapping[str, float]] = {"session of 60: command, provider": 3.0, "recorded: command, provider": 7.0}
SUBJECTS: Final[Mapping[str, Callable[[Part], None]]] = {
    FLOOR: loads_lines,
    "command": lambda part: by_command(part, "none"),
    "command, provider": lambda part: by_command(part, "deepseek"),
}
_COUNTED: Final = re.compile(r"I\s+refs:\s+([\d,]+)")


def corpora() -> dict[str, list[corpus.Session]]:
    source = random.Random(corpus.SEED)  # noqa: S311 — repeatable, not secret
    return {"session of 60": [corpus._session(source, EXCHANGES)], "recorded": corpus.recorded()}


def counted(corpus_name: str, subject: str, times: int) -> int:
    """Return how many instructions a process takes that runs a subject so many times."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={os.devnull}", sys.executable]
    words = [*command, "-m", __spec__.name, "--child", corpus_name, subject, str(times)]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    found = _COUNTED.search(done.stderr)
    assert found is not None, done.stderr
    return int(found[1].replace(",", ""))


def run(corpus_name: str, subject: str, times: int) -> None:
    """Run a subject on a corpus; without the work, all is loaded by a small part of it."""
    sessions = corpora()[corpus_name]
    with tempfile.TemporaryDirectory() as scratch:
        whole = written(sessions, Path(scratch) / "corpus.jsonl")
        small = written([sessions[0][:2]], Path(scratch) / "small.jsonl")
        SUBJECTS[subject](small)
        for _ in range(times):
            SUBJECTS[subject](whole)


def ratios() -> dict[str, float]:
    """Print the instructions of each subject, and return the ratios to the floor."""
    found: dict[str, float] = {}
    for name in corpora():
        counts = {each: counted(name, each, 1) - counted(name, each, 0) for each in SUBJECTS}
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
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        run(arguments.child[0], arguments.child[1], int(arguments.child[2]))
        return 0
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
