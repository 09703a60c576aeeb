"""Runs the tests over a copy of the tree, in which one change at a time is made."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Final

from tests.mutants.changes import Change

CHANGED: Final = ("conformance/judge.py", "conformance/gate.py")
"""The files, beside all in FOLDERS, whose changes are drawn."""
FOLDERS: Final = ("conformance/wire", "conformance/wires", "conformance/rules")
_COPIED: Final = ("conformance", "tests", "pyproject.toml")
_SECONDS: Final = 300
"""A change that makes the tests hang is noticed, too."""


class Fate(StrEnum):
    """What became of a change."""

    KILLED = "killed"
    SURVIVED = "survived"
    UNTESTED = "untested"


def sources(root: Path) -> list[str]:
    """Return the files whose changes are drawn."""
    found = [path for folder in FOLDERS for path in (root / folder).rglob("*.py")]
    return sorted([*CHANGED, *(str(path.relative_to(root)) for path in found)])


@contextmanager
def copied(root: Path) -> Iterator[Path]:
    """Yield a copy of the tree; what only is read is linked."""
    with tempfile.TemporaryDirectory(prefix="conformance-mutants-") as name:
        copy = Path(name) / "tree"
        copy.mkdir()
        for path in root.iterdir():
            if path.name in (".git", ".venv", "build", "dist"):
                continue
            if path.name not in _COPIED:
                (copy / path.name).symlink_to(path)
            elif path.is_dir():
                shutil.copytree(path, copy / path.name, ignore=shutil.ignore_patterns(".coverage*"))
            else:
                shutil.copy2(path, copy / path.name)
        yield copy


def measure(tree: Path, tests: Sequence[str]) -> Path:
    """Run tests in a copy with coverage by test, and return the data; raises RuntimeError if one fails."""
    data, settings = tree / ".coverage-mutants", tree / "mutants.coveragerc"
    named = ", ".join([each.removesuffix(".py").replace("/", ".") for each in (*CHANGED, *FOLDERS)])
    settings.write_text(f"[run]\nsource_pkgs = {named}\ndata_file = {data}\n")
    options = ["--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report="]
    ended = _pytest(tree, [*options, *tests], None)
    if ended:
        message = f"the tests fail without any change: exit code {ended}"
        raise RuntimeError(message)
    return data


def fate(tree: Path, change: Change, tests: Sequence[str]) -> Fate:
    """Make a change in a copy, run tests until one fails, and undo it."""
    if not tests:
        return Fate.UNTESTED
    path = tree / change.file
    source, times = path.read_bytes(), path.stat()
    listed = tree / "mutants.txt"
    listed.write_text("\n".join(tests))
    path.write_bytes(change.applied(source))
    try:
        ended = _pytest(tree, ["-x", "--tb=no", f"@{listed}"], _SECONDS)
    except subprocess.TimeoutExpired:
        ended = 1
    finally:
        path.write_bytes(source)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    return Fate.KILLED if ended else Fate.SURVIVED


def _pytest(tree: Path, arguments: Sequence[str], seconds: float | None) -> int:
    # Compiled files of a change would outlive it.
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *arguments]
    ended = subprocess.run(
        command, cwd=tree, env=environment, stdout=subprocess.DEVNULL, timeout=seconds, check=False
    )  # fmt: skip
    return ended.returncode
