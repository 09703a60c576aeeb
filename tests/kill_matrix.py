"""What is left of each command that starts processes, for each way to end it.

`python -m tests.kill_matrix` prints the whole table, with the seconds from the signal to the end of the last process.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import psutil

from tests.checking import GOOD
from tests.fake_engine import define, lives, pids, until, weights

ENDINGS: Final[Mapping[str, Sequence[int]]] = {
    "SIGINT": [signal.SIGINT],
    "SIGTERM": [signal.SIGTERM],
    "SIGTERM twice": [signal.SIGTERM, signal.SIGTERM],
    "SIGKILL": [signal.SIGKILL],
    "SIGHUP": [signal.SIGHUP],
    "SIGINT twice": [signal.SIGINT, signal.SIGINT],
}

UNWOUND: Final[dict[int, int]] = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGKILL: -9}
"""The exit codes of a command that ends its processes first: those of shells, except for SIGKILL."""

_GAP: Final = 0.1
_HANGS: Final = 60.0
_LEFT: Final = 25.0
"""Seconds to wait for processes that outlive their command; the longest is what the proxy may still check."""


SLEEPER: Final = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
with open(os.environ["PIDS"], "a") as file:
    file.write(f"{os.getpid()}\\n{child.pid}\\n")
time.sleep(600)
"""
"""A driver, an agent or a package manager that starts a process in a session of its own, and does not end."""


_AT_ONCE: Final = UNWOUND | {signal.SIGTERM: -signal.SIGTERM, signal.SIGHUP: -signal.SIGHUP}
_CHECKED: Final = UNWOUND | dict.fromkeys((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), 5)
_INTERRUPTED: Final = UNWOUND | dict.fromkeys((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), 2)


class Killed(NamedTuple):
    """How a command ended: its exit code, the processes that it had started, those that were left, and seconds.

    `expected` is the exit code that it should have. `folders` are those for temporary files that were left.
    """

    code: int
    started: int
    orphans: int
    seconds: float
    printed: str
    folders: tuple[str, ...]
    expected: int


class _Subject(NamedTuple):
    """A command, and what shows that all of its processes run: how many ids they write, and what it prints."""

    arguments: tuple[object, ...]
    recorded: int = 0
    printed: str = ""
    given: bytes = b""
    environment: Mapping[str, str] = {}
    codes: Mapping[int, int] = UNWOUND
    asks: bool = False
    """Whether it runs once it has connected to a server that never answers, whose port is `{port}`."""


def _sleeper(folder: Path) -> Path:
    path = folder / "sleeper.py"
    path.write_text(SLEEPER)
    return path


def _adapter(folder: Path) -> _Subject:
    driver = f"{sys.executable} {_sleeper(folder)}"
    words = ("--driver", driver, "--provider", "deepseek", "--jobs", 2, "--env", "PIDS")
    return _Subject(("conformance", "adapter", "run", *words), 4)


def _install(folder: Path) -> _Subject:
    npm = folder / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(f"#!{sys.executable}\n{SLEEPER}")
    npm.chmod(0o755)
    found = {"PATH": f"{npm.parent}:{os.environ['PATH']}", "CONFORMANCE_CACHE": str(folder / "cache")}
    return _Subject(("conformance", "adapter", "install", "openai-node"), 2, environment=found)


def _engine(folder: Path, *more: object, name: str = "fake") -> _Subject:
    define(folder, fault="children")
    known = ("--definitions", folder, "--weights", weights(folder / "weights"), "--cache", folder / "cache")
    return _Subject(("conformance", "engine", "run", name, *known, *more), 3, "" if more else "http://")


def _engine_with_a_command(folder: Path) -> _Subject:
    return _engine(folder, "--", sys.executable, _sleeper(folder))._replace(recorded=5)


def _gateway(folder: Path) -> _Subject:
    define(folder, "gateway", "children", model="none", upstream="fake")
    return _engine(folder, name="gateway")._replace(recorded=6)


def _serve(_: Path) -> _Subject:
    return _Subject(("conformance", "serve", "--provider", "deepseek", "--port", 0), printed="http://", codes=_AT_ONCE)


def _proxy(_: Path) -> _Subject:
    return _Subject(("conformance", "proxy", "--upstream", "http://127.0.0.1:9/v1"), printed="http://", codes=_CHECKED)


def _proxy_with_a_command(folder: Path) -> _Subject:
    command = ("--", sys.executable, _sleeper(folder))
    return _Subject(
        ("conformance", "proxy", "--upstream", "http://127.0.0.1:9/v1", *command),
        2,
        codes=UNWOUND | {signal.SIGHUP: 143},
    )


def _check(_: Path) -> _Subject:
    words = ("conformance", "check", "--format", "jsonl", "--jobs", 2, "-")
    return _Subject(words, printed='{"path":', given=(json.dumps(GOOD) + "\n").encode() * 200)


def _pytest(_: Path) -> _Subject:
    live = ("--live", "--base-url", "http://127.0.0.1:{port}/v1", "-p", "no:cacheprovider")
    return _Subject(("pytest", "--provider=deepseek", *live), printed="collected", codes=_INTERRUPTED)


def _check_a_folder(folder: Path) -> _Subject:
    for number in range(200):
        (folder / f"{number}.jsonl").write_text((json.dumps(GOOD) + "\n") * 300)
    words = ("conformance", "check", "--format", "json", "--all", "--jobs", 2, folder)
    return _Subject(words, printed='{"path":')


def _asking(*words: object, **environment: str) -> Callable[[Path], _Subject]:
    """Return a command that waits for a server."""
    return lambda folder: _Subject(
        ("conformance", *words),
        codes=_AT_ONCE,
        asks=True,
        environment={"CONFORMANCE_CACHE": str(folder), **environment},
    )


SUBJECTS: Final[Mapping[str, Callable[[Path], _Subject]]] = {
    "adapter": _adapter,
    "install": _install,
    "engine": _engine,
    "engine with a command": _engine_with_a_command,
    "gateway": _gateway,
    "serve": _serve,
    "proxy": _proxy,
    "proxy with a command": _proxy_with_a_command,
    "check": _check,
    "pytest": _pytest,
    "check of a folder": _check_a_folder,
    "evidence fetch": _asking("evidence", "fetch", "--url", "http://127.0.0.1:{port}"),
    "evidence fetch by a proxy": _asking("evidence", "fetch", HTTPS_PROXY="http://127.0.0.1:{port}"),
    "provider discover": _asking("provider", "discover", "http://127.0.0.1:{port}/v1", "--yes", "--model", "m"),
    "provider watch": _asking(
        "provider", "watch", "--provider", "deepseek", "--base-url", "http://127.0.0.1:{port}/v1"
    ),
}
CELLS: Final = tuple(product(SUBJECTS, ENDINGS))


@contextmanager
def _running(subject: _Subject, folder: Path) -> "Iterator[subprocess.Popen[bytes]]":
    """Start a command, and wait until all of its processes run."""
    with (
        # A server that accepts and never answers, for the commands that send requests.
        socket.create_server(("127.0.0.1", 0)) as silent,
        (folder / "printed").open("w+b") as printed,
        subprocess.Popen(
            [sys.executable, "-m", *(_filled(each, silent) for each in subject.arguments)],
            stdin=subprocess.PIPE,
            stdout=printed,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={
                **os.environ,
                "PIDS": str(folder / "pids"),
                "TMPDIR": str(folder),
                **{name: _filled(each, silent) for name, each in subject.environment.items()},
            },
            start_new_session=True,
        ) as process,
    ):
        try:
            assert process.stdin is not None
            process.stdin.write(subject.given)
            process.stdin.flush()
            assert until(lambda: len(pids(folder)) >= subject.recorded and subject.printed in _text(folder), _HANGS)
            assert not subject.asks or select.select([silent], [], [], _HANGS)[0]
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _filled(word: object, silent: socket.socket) -> str:
    return str(word).replace("{port}", str(silent.getsockname()[1]))


def _text(folder: Path) -> str:
    return (folder / "printed").read_text()


def killed(name: str, ending: str, folder: Path) -> Killed:
    """Start a command, end it, and return what was left of it."""
    subject = SUBJECTS[name](folder)
    with _running(subject, folder) as process:
        below = {each.pid for each in psutil.Process(process.pid).children(recursive=True)}
        began = time.monotonic()
        for number in ENDINGS[ending]:
            with suppress(ProcessLookupError):
                # As from a terminal: every process in the foreground gets Ctrl-C.
                (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
            time.sleep(_GAP if len(ENDINGS[ending]) > 1 else 0)
        code = process.wait(_HANGS)
        started = below | set(pids(folder))
        until(lambda: not any(map(lives, started)), _LEFT)
        seconds = time.monotonic() - began
    orphans = [pid for pid in started if lives(pid)]
    for pid in orphans:
        os.kill(pid, signal.SIGKILL)
    folders = tuple([path.name for path in folder.glob("conformance-*")])
    return Killed(code, len(started), len(orphans), seconds, _text(folder), folders, subject.codes[ENDINGS[ending][0]])


def main() -> None:
    """Print the table."""
    print("| command | ended by | exit code | processes | orphans | seconds |\n| --- | --- | --- | --- | --- | --- |")
    for name, ending in CELLS:
        with TemporaryDirectory() as folder:
            found = killed(name, ending, Path(folder))
        shown = (name, ending, found.code, found.started, found.orphans, f"{found.seconds:.1f}")
        print(f"| {' | '.join(map(str, shown))} |", flush=True)


if __name__ == "__main__":
    main()
