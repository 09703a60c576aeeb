"""What is left of each command that starts processes, for each way to end it.

`python -m tests.kill_matrix` prints the whole table: processes that were started, orphans, and seconds to the end of all.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import psutil

from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving
from tests.fake_engine import define, lives, until, weights

ENDINGS: Final[Mapping[str, Sequence[int]]] = {
    "SIGINT": [signal.SIGINT],
    "SIGTERM": [signal.SIGTERM],
    "SIGHUP": [signal.SIGHUP],
    "SIGKILL": [signal.SIGKILL],
    "SIGTERM twice": [signal.SIGTERM, signal.SIGTERM],
    "SIGINT twice": [signal.SIGINT, signal.SIGINT],
}

_GAP: Final = 0.1
_HANGS: Final = 60.0

SLEEPER: Final = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
with open(os.environ["PIDS"], "a") as file:
    file.write(f"{os.getpid()}\\n{child.pid}\\n")
time.sleep(600)
"""
"""A driver, an agent or a package manager that starts a process in a session of its own, and does not end."""


class Killed(NamedTuple):
    """How a command ended: its exit code, the processes that it had started, those that were left, and seconds."""

    code: int
    started: int
    orphans: int
    seconds: float
    printed: str


class _Subject(NamedTuple):
    """A command, and the number of ids that its processes write to the file PIDS when all of them run."""

    arguments: tuple[object, ...]
    recorded: int
    environment: Mapping[str, str] = {}


def _slow_server(_: HttpRequest) -> HttpReply:
    time.sleep(5)
    return HttpReply(500, b"{}")


def _engine(folder: Path, *more: object, upstream: bool = False) -> _Subject:
    define(folder, fault="children")
    if upstream:
        define(folder, "gateway", "children", model="none", upstream="fake")
    known = ("--definitions", folder, "--weights", weights(folder / "weights"), "--cache", folder / "cache")
    name = "gateway" if upstream else "fake"
    return _Subject(("conformance", "engine", "run", name, *known, *more), 6 if upstream else 3)


def _subject(name: str, folder: Path, stack: ExitStack) -> _Subject:
    sleeper = folder / "sleeper.py"
    sleeper.write_text(SLEEPER)
    command = (sys.executable, sleeper)
    match name:
        case "adapter":
            words = ("--driver", f"{sys.executable} {sleeper}", "--provider", "deepseek", "--jobs", 2, "--env", "PIDS")
            return _Subject(("conformance", "adapter", "run", *words), 4)
        case "install":
            npm = folder / "bin" / "npm"
            npm.parent.mkdir()
            npm.write_text(f"#!{sys.executable}\n{SLEEPER}")
            npm.chmod(0o755)
            found = {"PATH": f"{npm.parent}:{os.environ['PATH']}", "CONFORMANCE_CACHE": str(folder / "cache")}
            return _Subject(("conformance", "adapter", "install", "openai-node"), 2, found)
        case "engine":
            return _engine(folder)
        case "engine with a command":
            subject = _engine(folder, "--", *command)
            return subject._replace(recorded=subject.recorded + 2)
        case "gateway":
            return _engine(folder, upstream=True)
        case "serve":
            return _Subject(("conformance", "serve", "--provider", "deepseek", "--port", 0), 0)
        case "proxy":
            return _Subject(("conformance", "proxy", "--upstream", "http://127.0.0.1:9/v1"), 0)
        case "proxy with a command":
            return _Subject(("conformance", "proxy", "--upstream", "http://127.0.0.1:9/v1", "--", *command), 2)
        case "check":
            return _Subject(("conformance", "check", "--jobs", 2, "-"), 0)
        case _:
            url = stack.enter_context(serving(_slow_server))
            live = ("--live", "--base-url", f"{url}/v1", "-p", "no:cacheprovider")
            return _Subject(("pytest", "--provider=deepseek", *live), 0)


SUBJECTS: Final = (
    *("adapter", "install", "engine", "engine with a command", "gateway", "serve", "proxy", "proxy with a command"),
    *("check", "pytest"),
)
CELLS: Final = tuple(product(SUBJECTS, ENDINGS))


@contextmanager
def _running(subject: _Subject, folder: Path) -> "Iterator[subprocess.Popen[str]]":
    environment = {**os.environ, "PIDS": str(folder / "pids"), "TMPDIR": str(folder), **subject.environment}
    with (folder / "printed").open("w+b") as printed, subprocess.Popen(
        [sys.executable, "-m", *map(str, subject.arguments)],
        stdin=subprocess.PIPE,
        stdout=printed,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=environment,
        start_new_session=True,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _ids(folder: Path) -> list[int]:
    path = folder / "pids"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def killed(name: str, ending: str, folder: Path) -> Killed:
    """Start a command, wait until all of its processes run, end it, and return what was left of it."""
    with ExitStack() as stack:
        subject = _subject(name, folder, stack)
        process = stack.enter_context(_running(subject, folder))
        assert process.stdin is not None
        ready = READY.get(name, lambda text: True)
        assert until(lambda: len(_ids(folder)) >= subject.recorded and ready((folder / "printed").read_text()), _HANGS)
        below = {each.pid for each in psutil.Process(process.pid).children(recursive=True)}
        began = time.monotonic()
        for number in ENDINGS[ending]:
            with suppress(ProcessLookupError):
                # As from a terminal: every process in the foreground gets Ctrl-C.
                (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
            time.sleep(_GAP if len(ENDINGS[ending]) > 1 else 0)
        code = process.wait(_HANGS)
        started = below | set(_ids(folder))
        until(lambda: not any(map(lives, started)), 25)
        seconds = time.monotonic() - began
        orphans = [pid for pid in started if lives(pid)]
        for pid in orphans:
            os.kill(pid, signal.SIGKILL)
        return Killed(code, len(started), len(orphans), seconds, (folder / "printed").read_text())


READY: Final = {
    "serve": lambda text: "http://" in text,
    "proxy": lambda text: "http://" in text,
    "engine": lambda text: "http://" in text,
    "gateway": lambda text: "http://" in text,
    "pytest": lambda text: "collected" in text,
}


def main() -> None:
    """Print the table."""
    print("| command | ended by | exit code | processes | orphans | seconds |\n| --- | --- | --- | --- | --- | --- |")
    for name, ending in CELLS:
        with TemporaryDirectory() as folder:
            found = killed(name, ending, Path(folder))
        trace = " TRACEBACK" if "Traceback" in found.printed else ""
        print(f"| {name} | {ending} | {found.code} | {found.started} | {found.orphans} | {found.seconds:.1f}{trace} |", flush=True)


if __name__ == "__main__":
    main()
