"""What checking costs in instructions, which other work on the machine does not disturb; needs valgrind.

    python -m tests.benchmarks.instructions [--json FILE] [--write-baseline] [--corpus NAME]

Each subject runs in a process of its own under cachegrind: on a corpus to warm up, then on another one of the same
kind, or not; what counts is the difference. The floor is `orjson.loads` of every body once, and of a stream of every
payload of an event once. `recorded` is drawn from the recordings beside the checkout; without them it is not counted,
which is said. Exit code 1 if a ratio exceeds the committed one by more than 5 %, and 5 if valgrind is not installed, so
that nothing was counted.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from tabulate import tabulate

from tests.benchmarks import corpus, recordings
from tests.benchmarks import counted as counted_subjects
from tests.benchmarks.__main__ import written
from tests.benchmarks.counted import FLOOR

BASELINE: Final = Path(__file__).with_name("instructions.json")
MAX_REGRESSION: Final = 1.05
NOT_COUNTED: Final = 5
EXCHANGES: Final = 60
SHORT_RESULTS: Final = 200
"""The characters of a short result of a tool, in the median."""
WARM: Final = 1
"""What the seed of a corpus to warm up differs by."""
BOUNDS: Final[Mapping[str, float]] = {
    "session of 60: command, provider": 3.0,
    "session of 60, short results: command, provider": 3.0,
    "recorded: command": 7.0,
    "recorded: command, auto": 7.0,
}
_REFERENCES: Final = re.compile(r"I\s+refs:\s+([\d,]+)")


class Corpus(NamedTuple):
    """Sessions to measure and others of the same kind to warm up, and the subjects that count."""

    sessions: list[corpus.Session]
    warm: list[corpus.Session]
    subjects: tuple[str, ...] = ("command", "command, provider")


def corpora() -> dict[str, Callable[[], Corpus]]:
    """Return what makes each corpus, by its name."""
    found = {
        "session of 60": lambda: _of_session(corpus.session),
        "session of 60, short results": lambda: _of_session(partial(corpus.session, result=SHORT_RESULTS)),
        # Its reasoning has no signatures, so that each turn has a finding at a provider that demands reasoning.
        "session of 60, Messages": lambda: _of_session(
            lambda length, seed=corpus.SEED: corpus.on_wire(corpus.session(length, seed=seed), "messages")
        )._replace(subjects=("command", "command, provider", "command, own provider")),
    }
    if recordings.are_here():
        found["recorded"] = lambda: Corpus(
            recordings.drawn(), recordings.drawn(seed=corpus.SEED + WARM), ("command", "command, auto")
        )
    return found


def _of_session(make: Callable[..., corpus.Session]) -> Corpus:
    return Corpus([make(EXCHANGES)], [make(2, seed=corpus.SEED + WARM)])


def counted(subject: str, times: int, whole: Path, warm: Path) -> int:
    """Return how many instructions a process takes that runs a subject on a file to warm up, and then on another."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={os.devnull}"]
    done = _run(command, subject, times, whole, warm)
    found = _REFERENCES.search(done.stderr)
    assert found is not None, done.stderr
    return int(found[1].replace(",", ""))


def _run(
    command: Sequence[str], subject: str, times: int, whole: Path, warm: Path
) -> "subprocess.CompletedProcess[str]":
    words = [*command, sys.executable, "-m", counted_subjects.__name__, subject, str(times), str(whole), str(warm)]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=True)


def ratios(names: Sequence[str]) -> dict[str, float]:
    """Print the instructions of each subject, and return the ratios to the floor."""
    found: dict[str, float] = {}
    for name in names:
        made = corpora()[name]()
        samples = [sample for session in made.sessions for sample in session]
        with tempfile.TemporaryDirectory() as scratch:
            whole, warm = _files(made.sessions, Path(scratch), "whole"), _files(made.warm, Path(scratch), "warm")
            counts = {}
            for each in (FLOOR, *made.subjects):
                at = int(each == FLOOR)
                # What the first run after a change of the package keeps in the cache counts for neither.
                _run((), each, 1, whole[at], warm[at])
                counts[each] = counted(each, 1, whole[at], warm[at]) - counted(each, 0, whole[at], warm[at])
        rows = []
        for subject, count in counts.items():
            ratio = count / counts[FLOOR]
            label = f"{name}: {subject}"
            if subject != FLOOR:
                found[label] = round(ratio, 3)
            bound = BOUNDS.get(label)
            shown = "" if bound is None else f"{bound:g}" + ("" if ratio <= bound else ", not reached")
            rows.append([subject, f"{count / 1e6:.1f} M", f"{ratio:.2f}", shown])
        size = sum([len(document) for sample in samples for document in sample.documents])
        print(f"\n{name}: {len(samples)} exchanges, {size / 1e6:.2f} MB")
        print(tabulate(rows, headers=["", "instructions", "ratio", "bound"], disable_numparse=True), flush=True)
    return found


def _files(sessions: list[corpus.Session], folder: Path, name: str) -> tuple[Path, Path]:
    """Write a corpus as lines, and each of its JSON texts as a line, and return both paths."""
    lines, texts = folder / f"{name}.jsonl", folder / f"{name}.texts"
    written(sessions, lines)
    documents = [document for session in sessions for sample in session for document in sample.documents]
    texts.write_bytes(b"".join([document.replace(b"\n", b" ") + b"\n" for document in documents]))
    return lines, texts


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
    parser.add_argument("--corpus", choices=list(corpora()), action="append", help="only this one; repeatable")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("NOT RUN: valgrind is not installed, so no instruction was counted", file=sys.stderr)
        return NOT_COUNTED
    if not recordings.are_here():
        print("NOT RUN: the recordings are absent, so nothing was counted on real traffic", file=sys.stderr)
    found = ratios(arguments.corpus or list(corpora()))
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
