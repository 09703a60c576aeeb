"""Cached environments: folders that are made once, each from its recipe, and never used half-made.

Engines and SDKs are heavy and pin what contradicts each other, so each lives in a folder of its own, outside of the
environment that this package is installed in.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

from conformance.errors import Unusable

CACHE: Final = "CONFORMANCE_CACHE"
"""The environment variable that names the folder of everything cached."""

PATIENCE: Final = 3600.0
"""Seconds that another process is given to make the environment, and a package manager to install a step."""

Told: TypeAlias = Callable[[str], None]
"""Hears in words what is being done."""

_MARK: Final = "made.json"
_TAIL: Final = 15
_PIN: Final = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^;\s]+)")


def cache_root(kind: str) -> Path:
    """Return the folder for cached environments of a kind, such as `engines`.

    It is `$CONFORMANCE_CACHE/<kind>`, else `wire-conformance/<kind>` where caches are kept (XDG_CACHE_HOME, ~/.cache).
    """
    told = os.environ.get(CACHE)
    if told:
        return Path(told).absolute() / kind
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wire-conformance" / kind


def cached_path(root: Path, name: str, recipe: Any) -> Path:
    """Return where the environment of a recipe stands or will stand; another recipe or Python has another folder."""
    told = [recipe, platform.python_version(), sys.implementation.name, platform.system(), platform.machine()]
    digest = hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]
    return root / f"{name}-{digest}"


def is_made(folder: Path) -> bool:
    """Say whether an environment was made to its end."""
    return (folder / _MARK).is_file()


def made(folder: Path, make: Callable[[Path], None], told: Told) -> Path:
    """Return the folder, filled by `make` where that has not been done; two processes never make the same one.

    What `make` leaves behind when it raises is removed.
    """
    if is_made(folder):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.with_name(f"{folder.name}.lock"), told):
        if not is_made(folder):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            try:
                make(folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            # Written last: a folder without it is not used, however full it is.
            (folder / _MARK).write_bytes(orjson.dumps({"python": platform.python_version()}))
    return folder


def make_python(folder: Path, steps: Sequence[Sequence[str]], uninstall: Sequence[str], told: Told) -> None:
    """Make a virtual environment with some packages; see `install`."""
    told("makes a virtual environment")
    _run([sys.executable, "-m", "venv", str(folder)], "the virtual environment cannot be made")
    install(folder, steps, uninstall, told)


def install(folder: Path, steps: Sequence[Sequence[str]], uninstall: Sequence[str], told: Told) -> None:
    """Install the steps in a virtual environment, one `pip install` each, in order, and take out what does not fit.

    Raises Unusable with pip's last lines where a package cannot be had.
    """
    pip = [str(python_in(folder)), "-m", "pip", "--disable-pip-version-check", "--no-input"]
    for step in steps:
        shown = " ".join(step)
        told(f"installs {shown[:200]}")
        _run([*pip, "install", "--quiet", "--progress-bar=off", *step], f"pip cannot install {shown}")
    if uninstall:
        told(f"takes out {' '.join(uninstall)}")
        _run([*pip, "uninstall", "--quiet", "--yes", *uninstall], f"pip cannot take out {' '.join(uninstall)}")


def make_node(folder: Path, packages: Sequence[str], told: Told) -> None:
    """Install packages of npm in a folder, without running scripts of theirs.

    Raises Unusable with npm's last lines where a package cannot be had, and where there is no npm.
    """
    npm = shutil.which("npm")
    if npm is None:
        message = "there is no npm on the PATH; install Node.js"
        raise Unusable(message)
    (folder / "package.json").write_bytes(orjson.dumps({"private": True, "type": "module"}))
    shown = " ".join(packages)
    told(f"installs {shown[:200]}")
    quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    _run([npm, "install", "--prefix", str(folder), *quiet, *packages], f"npm cannot install {shown}")


def python_in(folder: Path) -> Path:
    """Return the interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def pins(steps: Sequence[Sequence[str]]) -> Mapping[str, str]:
    """Return the pinned versions of some steps, by package."""
    found = [match for step in steps for word in step if (match := _PIN.fullmatch(word)) is not None]
    return {match[1]: match[2] for match in found}


def is_here(steps: Sequence[Sequence[str]]) -> bool:
    """Say whether the running interpreter has every pinned package already, in that version."""
    wanted = pins(steps)
    try:
        return bool(wanted) and all(version(name) == pinned for name, pinned in wanted.items())
    except PackageNotFoundError:
        return False


def _run(command: Sequence[str], wrong: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    try:
        done = subprocess.run(  # noqa: S603 — the words are those of our own definitions
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        message = f"{wrong}: it did not end within {PATIENCE:g} seconds"
        raise Unusable(message) from None
    if done.returncode:
        lines = [line for line in done.stdout.decode("utf-8", "replace").splitlines() if line.strip()]
        raise Unusable(f"{wrong} (exit code {done.returncode}): " + "\n".join(lines[-_TAIL:])[-2000:])


@contextmanager
def _locked(path: Path, told: Told) -> Iterator[None]:
    """Hold a lock between processes; it is freed with the process that holds it, however that ends."""
    if os.name == "nt":
        message = "cached environments need POSIX file locks; use Linux, macOS or WSL"
        raise Unusable(message)
    # Imported here because Windows has no such module.
    import fcntl

    with path.open("w") as file:
        due, waits = time.monotonic() + PATIENCE, False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > due:
                    message = f"another process holds {path} for longer than {PATIENCE:g} seconds"
                    raise Unusable(message) from None
            if not waits:
                told("waits for another process that makes the same environment")
                waits = True
            time.sleep(0.1)
        yield
