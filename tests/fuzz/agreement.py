"""The same inputs with other hash seeds, in threads and on other Pythons: `python -m tests.fuzz.agreement`.

An input that has another outcome somewhere depends on the order of a set, on another thread, or on the interpreter.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from tabulate import tabulate

from conformance.arguments import positive
from tests.checking import ROOT
from tests.fuzz.running import made
from tests.fuzz.targets import TARGETS

JUDGED: Final = (
    "check", "wires", "twins", "proxy", "command", "simulator-wires", "to-canonical", "from-canonical", "prepare-wires",
    "parse-reply",
)  # fmt: skip
"""The targets that are compared: what judges, converts and prints."""

ALONE: Final = ("command",)
"""What owns the output of its process, so that threads cannot share one."""

HASH_SEEDS: Final = ("0", "1", "4711")
THREADS: Final = 8
_INPUTS: Final = 40
_SWITCHING: Final = 1e-6
"""Seconds after which another thread goes on: far more often than usual, so that threads meet inside a rule."""

_ADDRESS: Final = re.compile(r"0x[0-9a-f]{6,}|conformance-fuzz-[\w]+")


class Setting(NamedTuple):
    """One way to run the inputs."""

    name: str
    python: str
    hash_seed: str
    threads: int = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the settings; return 1 if an input has another outcome in one of them."""
    options = _parser().parse_args(arguments)
    if options.digest is not None:
        print(json.dumps(digests(json.loads(options.digest.read_text("utf-8")), options.threads)))
        return 0
    targets = options.target or JUDGED
    inputs = [
        {"target": name, "input": made(TARGETS[name], options.seed, options.corpus, number)}
        for name in targets
        for number in range(options.inputs)
    ]
    with tempfile.TemporaryDirectory(prefix="conformance-agreement-") as folder:
        path = Path(folder) / "inputs.json"
        path.write_text(json.dumps(inputs), "utf-8")
        rows, first, differing = [], None, set()
        for setting in settings([sys.executable, *options.python]):
            began = time.monotonic()
            found = _outcomes(setting, path)
            first = found if first is None else first
            other = [at for at, each in enumerate(found) if each and first[at] and each != first[at]]
            differing.update(other)
            rows.append((setting.name, sum(map(bool, found)), len(other), f"{time.monotonic() - began:.0f}"))
    print(tabulate(rows, headers=["setting", "inputs", "other outcomes", "seconds"], disable_numparse=True))
    for at in sorted(differing)[:5]:
        print(json.dumps(inputs[at])[:2000])
    return 1 if differing else 0


def settings(pythons: Sequence[str]) -> Iterator[Setting]:
    """Yield every Python with each hash seed, and with threads."""
    for python in pythons:
        version = _version(python)
        for seed in HASH_SEEDS:
            yield Setting(f"{version}, hash seed {seed}", python, seed)
        yield Setting(f"{version}, {THREADS} threads", python, HASH_SEEDS[0], THREADS)


def _version(python: str) -> str:
    code = (
        "import sys; print(sys.version.split()[0], '' if getattr(sys, '_is_gil_enabled', bool)() in (True, False) and "
    )
    code += "getattr(sys, '_is_gil_enabled', lambda: True)() else 'free-threaded')"
    found = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return f"Python {found.stdout.strip()}"


def _outcomes(setting: Setting, path: Path) -> list[str]:
    """Return the digest of the outcome of each input; empty for one that the setting cannot run."""
    command = [setting.python, "-m", "tests.fuzz.agreement", "--digest", str(path), "--threads", str(setting.threads)]
    environment = {**os.environ, "PYTHONHASHSEED": setting.hash_seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    if done.returncode:
        raise AssertionError(f"{setting.name}: {done.stderr.decode()[-2000:]}")
    found: list[str] = json.loads(done.stdout)
    return found


def digests(inputs: Sequence[Mapping[str, Any]], threads: int) -> list[str]:
    """Run inputs, in several threads at once if asked, and return the digest of the outcome of each."""
    if threads == 1:
        return [_digest(each) for each in inputs]
    # Before they start, as a program imports before it checks.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCHING)
    try:
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(lambda each: "" if each["target"] in ALONE else _digest(each), inputs))
    finally:
        sys.setswitchinterval(interval)


def _digest(given: Mapping[str, Any]) -> str:
    with tempfile.TemporaryDirectory(prefix="conformance-fuzz-") as name:
        try:
            outcome = repr(TARGETS[given["target"]].run(given["input"], Path(name)))
        except (AssertionError, Exception) as error:  # noqa: BLE001 — a fault is an outcome; finding it is for the fuzzer
            outcome = f"{type(error).__name__}: {error}"
    return sha256(_ADDRESS.sub("", outcome).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.agreement", description=__doc__)
    parser.add_argument("--target", action="append", choices=JUDGED, help="what to compare (repeatable); default: all")
    parser.add_argument("--inputs", type=positive, default=_INPUTS, metavar="N", help="inputs of each target")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed gives the same inputs")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="also mutate the recordings in this folder")
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="PATH",
        help="another interpreter, in an environment with the packages of the extra dev (repeatable)",
    )
    parser.add_argument("--threads", type=positive, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--digest", type=Path, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
