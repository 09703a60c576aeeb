"""Runs the tests over a copy of the tree, in which one change at a time is made."""

import importlib.util
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

import psutil

from tests.mutants import worker
from tests.mutants.changes import Change
from tests.mutants.worker import BYTES, PIPES, READY, UNSURE

CHANGED: Final = ("conformance/judge.py", "conformance/gate.py")
"""The files, beside all in FOLDERS, whose changes are drawn."""
FOLDERS: Final = ("conformance/wire", "conformance/wires", "conformance/rules")
_COPIED: Final = ("conformance", "tests", "pyproject.toml")
_LEFT: Final = (".git", ".venv", "build", "dist")
_PYTEST: Final = (sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider")
_SECONDS: Final = 400
"""How long a batch of tests may take: a change that makes them hang is noticed. It is far more than a batch takes."""
_NOT_FOUND: Final = 4
"""The exit code of pytest if it cannot find a test, for instance because the change renames its parameter."""


class Fate(StrEnum):
    """What became of a change."""

    KILLED = "killed"
    SURVIVED = "survived"
    UNTESTED = "untested"


class Ended(NamedTuple):
    """How a run of pytest ended: its exit code, and the first test that failed."""

    code: int
    first: str = ""


class Verdict(NamedTuple):
    """What became of a change, and the test that noticed it."""

    fate: Fate
    by: str = ""


def sources(root: Path) -> list[str]:
    """Return the files whose changes are drawn."""
    found = [path for folder in FOLDERS for path in (root / folder).rglob("*.py")]
    return sorted([*CHANGED, *(str(path.relative_to(root)) for path in found)])


@contextmanager
def copied(root: Path) -> Iterator[Path]:
    """Yield a copy of the tree; what is only read is linked."""
    with tempfile.TemporaryDirectory(prefix="conformance-mutants-") as name:
        copy = Path(name) / "tree"
        copy.mkdir()
        for path in root.iterdir():
            if path.name in _LEFT:
                continue
            if path.name not in _COPIED:
                (copy / path.name).symlink_to(path)
            elif path.is_dir():
                shutil.copytree(path, copy / path.name)
            else:
                shutil.copy2(path, copy / path.name)
        yield copy


@contextmanager
def made(tree: Path, change: Change) -> Iterator[tuple[Path, str, str]]:
    """Make a change in a copy and yield the path and both sources; undo it in the end."""
    path = tree / change.file
    source, times = path.read_bytes(), path.stat()
    changed = change.applied(source)
    path.write_bytes(changed)
    try:
        yield path, source.decode(), changed.decode()
    finally:
        path.write_bytes(source)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def tried(tree: Path, batches: Iterable[Sequence[str]]) -> Verdict:
    """Run batches of tests in processes of their own until one fails."""
    for tests in batches:
        ended = _ended(tree, tests)
        if ended.code:
            return Verdict(Fate.KILLED, ended.first)
    return Verdict(Fate.SURVIVED)


def _ended(tree: Path, tests: Sequence[str]) -> Ended:
    listed = tree / "mutants.txt"
    listed.write_text("\n".join(tests), "utf-8")
    ended = run(tree, ["-x", "--tb=no", f"@{listed}"], _SECONDS)
    if ended.code != _NOT_FOUND:
        return ended
    return run(tree, ["-x", "--tb=no", *dict.fromkeys([test.partition("::")[0] for test in tests])], _SECONDS)


class Worker:
    """A process that has collected the tests, and runs some of them for one change after the other."""

    def __init__(self, tree: Path, tests: Sequence[str]) -> None:
        jobs, given = os.pipe()
        answered, answers = os.pipe()
        environment = {**os.environ, "PYTHONPATH": str(tree), PIPES: f"{jobs},{answers}"}
        self._process = subprocess.Popen(
            [*_PYTEST, "-p", worker.__name__, *tests],
            cwd=tree,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(jobs, answers),
            start_new_session=True,
        )
        os.close(jobs)
        os.close(answers)
        self._jobs, self._answers = os.fdopen(given, "w"), os.fdopen(answered)
        if self._answers.readline().strip() != READY:
            self.close()
            message = "the tests cannot be collected"
            raise RuntimeError(message)

    def tried(self, path: Path, before: str, after: str, tests: Sequence[str]) -> Verdict | None:
        """Run tests with the changed source of a file; return None if that is not possible in a living process."""
        job = {"path": str(path), "before": before, "after": after, "tests": tests}
        self._jobs.write(json.dumps(job) + "\n")
        self._jobs.flush()
        answer = json.loads(self._answers.readline())
        if answer == UNSURE:
            return None
        return Verdict(Fate.KILLED, answer) if answer else Verdict(Fate.SURVIVED)

    def close(self) -> None:
        """End the process."""
        kill_tree(self._process)
        self._jobs.close()
        self._answers.close()


def run(tree: Path, arguments: Sequence[str], seconds: float | None, more: Mapping[str, str] | None = None) -> Ended:
    """Run pytest in a copy of the tree in one process, with environment variables of its own."""
    command = [*_PYTEST, "-rfE", *arguments]
    output = tree / "mutants.log"
    with (
        output.open("wb") as log,
        subprocess.Popen(
            command,
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree), **(more or {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_bounded,  # noqa: PLW1509 — this process has one thread
        ) as process,
    ):
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            return Ended(1, f"no end within {seconds:g} seconds")
        finally:
            kill_tree(process)
    lines = output.read_text("utf-8", "replace").splitlines()
    failed = [line.split(" - ")[0] for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return Ended(code, failed[0].partition(" ")[2] if failed else "")


def kill_tree(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process that leads a session of its own, with everything that it started, and wait for its end."""
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.kill()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
