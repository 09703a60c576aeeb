"""How much memory `conformance serve` takes: the most that its process ever held, by what it was asked.

    python -m tests.benchmarks.serve_memory

Linux only. Exit code 1 if one exceeds 150 MB. It takes some minutes.
"""

import time
from typing import Final

from tabulate import tabulate

from tests.hostile.test_simulator_memory import LARGE, MAX_MEMORY, distinct, growing, held, refused

ROWS: Final = (
    ("small requests, no two alike, on four wires", distinct, 200, 100_000),
    ("requests of 2 MB, no two alike, on four wires", distinct, LARGE, 500),
    ("histories that grow from 200 kB, on four wires", growing, 200_000, 2000),
    ("requests with names and ids of 400 kB", refused, 400_000, 1000),
)


def main() -> int:
    rows, most = [], 0
    for title, kind, size, number in ROWS:
        began = time.monotonic()
        found = held(kind, size, number)
        most = max(most, found.most)
        megabytes = [f"{each / 1000:.0f} MB" for each in (found.first, found.most)]
        rows.append((title, f"{number:,}", *megabytes, f"{time.monotonic() - began:.0f} s"))
        print(*rows[-1], sep=" | ", flush=True)
    print(
        tabulate(rows, headers=["what it is asked", "requests", "at first", "at most", "clock"], disable_numparse=True)
    )
    return int(most > MAX_MEMORY)


if __name__ == "__main__":
    raise SystemExit(main())
