"""How long the command takes to start, as a ratio to the imports that it cannot do without.

    python -m tests.benchmarks.start [--rounds N]

Each round runs every command once, one after the other; the figures are the least CPU times over the rounds.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.checking import ENVIRONMENT, GOOD, write

START = "import sys; from conformance.cli import main; sys.exit(main())"


def cpu_seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as scratch:
        path = write(Path(scratch) / "small.json", GOOD)
        commands = {
            "imports": [sys.executable, "-c", "import orjson, jsonschema_rs"],
            "check": [sys.executable, "-c", START, "check", str(path)],
            "help": [sys.executable, "-c", START, "--help"],
        }
        # The package is compiled once, like an installed one, even if its folder cannot be written.
        environment = {**ENVIRONMENT, "PYTHONPYCACHEPREFIX": os.fspath(Path(scratch) / "compiled")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for command in commands.values():
            cpu_seconds(command, environment)
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(rounds):
            for name, command in commands.items():
                seconds[name].append(cpu_seconds(command, environment))
    least = {name: min(measured) for name, measured in seconds.items()}
    for name, value in least.items():
        print(f"{name:8} {1000 * value:5.0f} ms  {value / least['imports']:.2f} times the imports")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
