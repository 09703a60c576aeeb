"""How long the command takes to start, in CPU time and against what it cannot do without."""

import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.checking import ENVIRONMENT, GOOD, write

ROUNDS = 15
BOUND = 2.0


def spent(command: Sequence[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def test_checking_a_small_file_costs_at_most_twice_its_imports(tmp_path: Path) -> None:
    path = write(tmp_path / "small.json", GOOD)
    start = "import sys; from conformance.cli import main; sys.exit(main())"
    commands = {
        "imports": [sys.executable, "-c", "import orjson, jsonschema_rs"],
        "check": [sys.executable, "-c", start, "check", str(path)],
    }
    # Compiled once, as an installed package is, wherever this process may or may not write.
    environment = {**ENVIRONMENT, "PYTHONPYCACHEPREFIX": os.fspath(tmp_path / "compiled")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for command in commands.values():
        spent(command, environment)
    # Turn about, so that a busy machine is busy for both.
    rounds = [{name: spent(command, environment) for name, command in commands.items()} for _ in range(ROUNDS)]
    least = {name: min(each[name] for each in rounds) for name in commands}
    ratio = least["check"] / least["imports"]
    assert ratio <= BOUND, f"{1000 * least['check']:.0f} ms is {ratio:.2f} times {1000 * least['imports']:.0f} ms"
