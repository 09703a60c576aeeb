"""What checking and starting cost, as ratios within one run, compared with the committed baseline.

    python -m tests.benchmarks [--runs N] [--json FILE] [--write-baseline]

Each round measures every subject once, one after the other, on the same parts of a corpus; what counts is the least CPU
time of each part over the rounds, which other work on the machine disturbs the least. The command line reads a corpus
as one file, so that starting it hardly counts. The floor of `check` is
`orjson.loads` of every body and of every SSE payload, that of the command line `orjson.loads` of every line and of
every payload. Of several runs the least ratio counts. Exit code 1 if a ratio exceeds the baseline by more than 20 %;
bounds that are not reached are shown, and fail nothing.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tabulate import tabulate

from conformance import rules
from tests.benchmarks import corpus, start
from tests.benchmarks.peers import BY_FILE, FLOOR, LINES_FLOOR, PEERS, SUBJECTS, Part

BASELINE = Path(__file__).with_name("baseline.json")
MAX_REGRESSION = 1.2
ROUNDS = 7
BOUNDS: Mapping[str, float] = {
    **dict.fromkeys(["recorded: check", "recorded: command"], 5.0),
    **dict.fromkeys(["recorded: check, provider", "recorded: command, provider"], 7.0),
    **{f"{name}: {door}": 3.5 for name in ("agent", "agent with findings") for door in ("check", "command")},
    **{f"{name}: {door}, provider": 4.5 for name in ("agent", "agent with findings") for door in ("check", "command")},
    "start: check of one file": 2.0,
    "start: help": 1.5,
    "start: version": 1.5,
}
PACKAGES = ("orjson", "jsonschema", "jsonschema-rs", "pydantic", "openai", "hypothesis")
_PART = 5


def corpora() -> dict[str, list[corpus.Session]]:
    return {
        "recorded": corpus.recorded(),
        "agent": corpus.agent(),
        "agent with findings": corpus.agent(faulty=True),
        "sessions": corpus.sessions(),
    }


def written(sessions: list[corpus.Session], path: Path) -> Part:
    """Return a corpus, also written to a file of lines."""
    several = any(len(session) > 1 for session in sessions)
    lines = [each.line(f"{at}" if several else "") for at, session in enumerate(sessions) for each in session]
    path.write_bytes(b"".join(lines))
    return Part(sessions, path)


def measure(whole: Part) -> dict[str, float]:
    """Return the seconds of each subject: the sum of the least times of the parts of a corpus."""
    sessions = whole.sessions
    some = [Part(sessions[begin : begin + _PART], whole.path) for begin in range(0, len(sessions), _PART)]
    parts = {name: [whole] if name in BY_FILE else some for name in SUBJECTS}
    least = {name: [float("inf")] * len(parts[name]) for name in SUBJECTS}
    for number in range(ROUNDS):
        for name, subject in SUBJECTS.items():
            if name in PEERS and number > 1:
                continue
            for at, part in enumerate(parts[name]):
                began = time.process_time()
                subject(part)
                least[name][at] = min(least[name][at], time.process_time() - began)
    return {name: sum(times) for name, times in least.items()}


def ratios() -> dict[str, float]:
    """Print one table for each corpus, and return all ratios."""
    found: dict[str, float] = {}
    for title, sessions in corpora().items():
        with tempfile.TemporaryDirectory() as scratch:
            whole = written(sessions, Path(scratch) / "corpus.jsonl")
            taken = measure(whole)
        samples = whole.samples
        size = sum(len(document) for sample in samples for document in sample.documents)
        print(f"\n{title}: {len(samples)} exchanges, {size / 1e6:.1f} MB of JSON, {len(rules.load())} rules")
        rows = []
        for name, seconds in taken.items():
            ratio = seconds / taken[LINES_FLOOR if name in BY_FILE else FLOOR]
            if name not in (FLOOR, LINES_FLOOR):
                found[f"{title}: {name}"] = ratio
            micros = f"{1e6 * seconds / len(samples):.0f} µs"
            rows.append([name, micros, f"{ratio:.2f}", _bound(f"{title}: {name}", ratio)])
        print(tabulate(rows, headers=["", "an exchange", "ratio", "bound"], disable_numparse=True))
    found |= {f"start: {name}": ratio for name, ratio in start.ratios().items()}
    print()
    shown = [[name, f"{found[name]:.2f}", _bound(name, found[name])] for name in found if name.startswith("start")]
    print(tabulate(shown, headers=["", "ratio", "bound"], disable_numparse=True))
    return found


def _bound(name: str, ratio: float) -> str:
    bound = BOUNDS.get(name)
    return "" if bound is None else f"{bound:g}" + ("" if ratio <= bound else ", not reached")


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "load": [round(each, 1) for each in os.getloadavg()],
        "versions": {name: version(name) for name in PACKAGES},
    }


def regressions(found: Mapping[str, float], baseline: Mapping[str, float]) -> list[str]:
    """Return a line for each ratio of this project that exceeds the baseline's by more than is allowed."""
    return [
        f"{name}: {found[name]:.2f}, {found[name] / before:.2f} times the baseline's {before:.2f}"
        for name, before in baseline.items()
        if name.partition(": ")[2] not in PEERS and found[name] > MAX_REGRESSION * before
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1, help="number of runs (default: 1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the ratios to FILE")
    parser.add_argument("--write-baseline", action="store_true", help=f"write them to {BASELINE.name}")
    arguments = parser.parse_args()
    runs = [ratios() for _ in range(arguments.runs)]
    found = {name: round(min(run[name] for run in runs), 2) for name in runs[0]}
    report = json.dumps({**machine(), "runs": arguments.runs, "ratios": found}, indent=2) + "\n"
    for path in (arguments.json, BASELINE if arguments.write_baseline else None):
        if path is not None:
            path.write_text(report, "utf-8")
    worse = regressions(found, json.loads(BASELINE.read_text("utf-8"))["ratios"])
    for line in worse:
        print(line, file=sys.stderr)
    return int(bool(worse))


if __name__ == "__main__":
    raise SystemExit(main())
