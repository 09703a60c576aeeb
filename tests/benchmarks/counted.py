"""What `instructions` counts, in a process that loads nothing else.

python -m tests.benchmarks.counted SUBJECT TIMES FILE WARM
"""

import contextlib
import io
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import orjson

FLOOR: Final = "floor"


def floor(path: Path) -> None:
    """Parse every body once, and of a stream every payload of an event: each is a line of the file."""
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)


def command(path: Path, provider: str) -> None:
    # Imported here because the floor does without it.
    from conformance.cli import main

    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["check", "--format", "jsonl", "--provider", provider, str(path)]) in (0, 1)


SUBJECTS: Final[Mapping[str, Callable[[Path], None]]] = {
    FLOOR: floor,
    "command": lambda path: command(path, "none"),
    "command, provider": lambda path: command(path, "deepseek"),
    "command, own provider": lambda path: command(path, "anthropic"),
    "command, auto": lambda path: command(path, "auto"),
}

if __name__ == "__main__":
    SUBJECTS[sys.argv[1]](Path(sys.argv[4]))
    for _ in range(int(sys.argv[2])):
        SUBJECTS[sys.argv[1]](Path(sys.argv[3]))
