"""Cached environments for engines and SDKs: each is created once from its recipe and never used half-made.

Engines and SDKs are heavy and pin versions that contradict each other. So each lives in a folder of its own, outside
the environment that this package is installed in.
"""

import hashlib
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

from conformance import artifacts, processes
from conformance.errors import Unusable

MAX_SECONDS: Final = 3600.0
"""How long to wait for another process that creates the same environment, and for one call of a package manager."""

Log: TypeAlias = Callable[[str], None]
"""Takes a line that says what is being done."""

_MARKER: Final = "made.json"
_WAITING: Final = "waiting for another process that creates the same environment"
_CONFLICT: Final = "The conflict is caused by:"
_ADVICE: Final = re.compile(r"To fix this|Additionally, |ERROR: |\d+\. ")
_VERSIONS: Final = re.compile(r"\(from versions: ([^)]*)\)")
_MAX_VERSIONS: Final = 5
_MAX_ERRORS: Final = 4
_PIN: Final = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^;\s]+)")


def cached_path(root: Path, name: str, recipe: Any) -> Path:
    """Return the folder for the environment of a recipe; another recipe or Python has another folder."""
    key = [recipe, platform.python_version(), sys.implementation.name, platform.system(), platform.machine()]
    digest = hashlib.sha256(orjson.dumps(key, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]
    return root / f"{name}-{digest}"


def is_complete(folder: Path) -> bool:
    """Return whether the creation of an environment has finished."""
    return (folder / _MARKER).is_file()


def ensure(folder: Path, create: Callable[[Path], None], log: Log) -> Path:
    """Return the folder, filled by `create` unless it is complete; only one process at a time creates it.

    If `create` raises, the folder is removed.
    """
    if is_complete(folder):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = folder.with_name(f"{folder.name}.lock")
    with artifacts.locked_file(lock, MAX_SECONDS, lambda: log(_WAITING)):
        if not is_complete(folder):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            try:
                create(folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            # Written last: a folder without it is not used, however full it is.
            artifacts.write(folder / _MARKER, orjson.dumps({"python": platform.python_version()}))
    return folder


def create_venv(folder: Path, steps: Sequence[Sequence[str]], uninstall: Sequence[str], log: Log) -> None:
    """Create a virtual environment with some packages; see `pip_install`."""
    log("creating a virtual environment")
    _run([sys.executable, "-m", "venv", str(folder)], "cannot create the virtual environment")
    pip_install(folder, steps, uninstall, log)


def pip_install(folder: Path, steps: Sequence[Sequence[str]], uninstall: Sequence[str], log: Log) -> None:
    """Run one `pip install` for each step in a virtual environment, in order, then uninstall some packages.

    Raises Unusable with the cause if that fails.
    """
    pip = [str(python_in(folder)), "-m", "pip", "--disable-pip-version-check", "--no-input"]
    for step in steps:
        shown = " ".join(step)
        log(f"installing {shown[:200]}")
        # Without --quiet: pip logs which requirements conflict at the level that --quiet hides.
        _run([*pip, "install", "--progress-bar=off", *step], f"pip cannot install {shown}", pip_cause)
    if uninstall:
        shown = " ".join(uninstall)
        log(f"uninstalling {shown}")
        _run([*pip, "uninstall", "--quiet", "--yes", *uninstall], f"pip cannot uninstall {shown}")


def npm_install(folder: Path, packages: Sequence[str], log: Log) -> None:
    """Install npm packages in a folder without running their scripts.

    Raises Unusable with npm's last lines if that fails, or if npm is missing.
    """
    npm = shutil.which("npm")
    if npm is None:
        message = "npm is not on the PATH; install Node.js"
        raise Unusable(message)
    artifacts.write(folder / "package.json", orjson.dumps({"private": True, "type": "module"}))
    shown = " ".join(packages)
    log(f"installing {shown[:200]}")
    quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    _run([npm, "install", "--prefix", str(folder), *quiet, *packages], f"npm cannot install {shown}")


def python_in(folder: Path) -> Path:
    """Return the interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def pinned_versions(steps: Sequence[Sequence[str]]) -> Mapping[str, str]:
    """Return the pinned versions of some steps, by package."""
    found = [match for step in steps for word in step if (match := _PIN.fullmatch(word)) is not None]
    return {match[1]: match[2] for match in found}


def has_packages(steps: Sequence[Sequence[str]]) -> bool:
    """Return whether the running interpreter already has every pinned package in that version."""
    wanted = pinned_versions(steps)
    try:
        return bool(wanted) and all(version(name) == pinned for name, pinned in wanted.items())
    except PackageNotFoundError:
        return False


def pip_cause(lines: Sequence[str]) -> str:
    """Return why pip failed, from the lines of its log: the conflicting requirements, else its errors; or nothing."""
    texts = [line.strip() for line in lines]
    start = next((number for number, text in enumerate(texts, 1) if text.startswith(_CONFLICT)), 0)
    if start:
        end = next((number for number, text in enumerate(texts) if number > start and _ADVICE.match(text)), len(texts))
        return "; ".join(["the requirements conflict", *texts[start:end]])
    errors = [text.removeprefix("ERROR: ") for text in texts if text.startswith("ERROR: ")]
    return "; ".join([_VERSIONS.sub(_newest, text) for text in dict.fromkeys(errors)][:_MAX_ERRORS])


def _newest(found: "re.Match[str]") -> str:
    """Return the last of the versions that pip lists; it lists all, the oldest first."""
    versions = found[1].split(", ")
    return f"(from versions: {'…, ' if len(versions) > _MAX_VERSIONS else ''}{', '.join(versions[-_MAX_VERSIONS:])})"


def _run(command: Sequence[str], failure: str, cause: Callable[[Sequence[str]], str] | None = None) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    processes.run(command, failure, MAX_SECONDS, environment, cause)
