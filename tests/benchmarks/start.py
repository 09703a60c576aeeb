"""How long the command takes to start, as ratios to what it cannot do without."""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.checking import ENVIRONMENT, GOOD, write

_START = "import sys; from conformance.cli import main; sys.exit(main())"
_ROUNDS = 7


def ratios() -> dict[str, float]:
    """Return the least CPU times over some rounds: of a check to its imports, of help and version to bare Python."""
    with tempfile.TemporaryDirectory() as scratch:
        path = write(Path(scratch) / "small.json", GOOD)
        commands = {
            "python": [sys.executable, "-c", ""],
            "imports": [sys.executable, "-c", "import orjson, jsonschema_rs"],
            "check": [sys.executable, "-c", _START, "check", str(path)],
            "help": [sys.executable, "-c", _START, "--help"],
            "version": [sys.executable, "-c", _START, "--version"],
        }
        # The package is compiled once, like an installed one, even if its folder cannot be written.
        environment = {**ENVIRONMENT, "PYTHONPYCACHEPREFIX": os.fspath(Path(scratch) / "compiled")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for command in commands.values():
            _cpu_seconds(command, environment)
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(_ROUNDS):
            for name, command in commands.items():
                seconds[name].append(_cpu_seconds(command, environment))
    least = {name: min(measured) for name, measured in seconds.items()}
    return {
        "check of one file": least["check"] / least["imports"],
        "help": least["help"] / least["python"],
        "version": least["version"] / least["python"],
    }


def _cpu_seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
