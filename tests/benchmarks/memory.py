"""How much memory checking a file takes: generated files of two sizes, which should make no difference.

    python -m tests.benchmarks.memory [--megabytes N] [--jobs N|auto]

Exit code 1 if the larger file takes 50 MB more than one of 20 MB. The files are deleted afterwards.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import psutil
from tabulate import tabulate

from tests.benchmarks import corpus

SMALL = 20
BOUND = 50
"""By how many megabytes the memory for the larger file may exceed that for the small one."""
_MEGABYTE = 1_000_000
_INTERVAL = 0.05
"""The seconds between two looks at the process."""


class Measured(NamedTuple):
    """What checking a file took: the greatest resident set size in megabytes, and seconds by the CPU and the clock."""

    memory: float
    cpu: float
    clock: float


def generate(path: Path, megabytes: int) -> int:
    """Write exchanges like the recorded ones, one a line, until the file has a size; return how many there are."""
    lines = [each.line("") for session in corpus.recorded() for each in session]
    size = count = 0
    with path.open("wb") as file:
        for line in cycle(lines):
            if size >= megabytes * _MEGABYTE:
                return count
            size += file.write(line)
            count += 1
    return count


def measure(path: Path, jobs: str) -> Measured:
    """Check a file by the command in a process of its own."""
    command = [sys.executable, "-m", "conformance", "check", "--format", "jsonl", "--jobs", jobs, str(path)]
    began = time.monotonic()
    process = psutil.Popen(command, stdout=subprocess.DEVNULL)
    memory, cpu = 0, 0.0
    # The system's own maximum would count what this process had when it started the other.
    while process.poll() is None:
        with suppress(psutil.NoSuchProcess), process.oneshot():
            times = process.cpu_times()
            memory = max(memory, process.memory_info().rss)
            cpu = sum(times[:4])
        time.sleep(_INTERVAL)
    assert process.returncode in (0, 1)
    return Measured(memory / _MEGABYTE, cpu, time.monotonic() - began)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=2000, help="size of the larger file (default: 2000)")
    parser.add_argument("--jobs", default="1", help="number of processes, as in `conformance check` (default: 1)")
    arguments = parser.parse_args()
    rows, taken = [], []
    for megabytes in (SMALL, arguments.megabytes):
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "exchanges.jsonl"
            count = generate(path, megabytes)
            found = measure(path, arguments.jobs)
        taken.append(found.memory)
        rows.append([f"{megabytes} MB", count, f"{found.memory:.0f} MB", f"{found.cpu:.1f} s", f"{found.clock:.1f} s"])
    print(tabulate(rows, headers=["file", "exchanges", "memory", "CPU", "clock"], disable_numparse=True))
    return int(taken[1] - taken[0] > BOUND)


if __name__ == "__main__":
    raise SystemExit(main())
