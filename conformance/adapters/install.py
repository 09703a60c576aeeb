"""Adapters installed: each version in a cached environment of its own, outside of the one this package is in."""

import hashlib
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from conformance.adapters.definition import Definition
from conformance.adapters.driver import Driver
from conformance.environments import Told, cache_root, cached_path, is_made, made, make_node, make_python, python_in
from conformance.errors import Unusable

_KIND: Final = "adapters"
_SHARED: Final = "_node"
"""The folder, beside those of the adapters, that the drivers for Node share."""


def place(definition: Definition) -> Path:
    """Return where the environment of an adapter stands or will stand."""
    recipe = [definition.language, *definition.packages]
    return cached_path(cache_root(_KIND), f"{definition.name}@{definition.version}", recipe)


def is_installed(definition: Definition) -> bool:
    """Say whether an adapter can be driven as it is; one without packages always can."""
    return not definition.packages or is_made(place(definition))


def install(definition: Definition, told: Told) -> Path:
    """Return the environment of an adapter, made where it is not there yet; raises Unusable where it cannot be."""

    def make(folder: Path) -> None:
        if definition.language == "node":
            make_node(folder, definition.packages, told)
        else:
            make_python(folder, [definition.packages], (), told)

    return made(place(definition), make, told)


def driver(definition: Definition, seconds: float | None = None) -> Driver:
    """Return how an adapter is driven; raises Unusable where it is not installed."""
    due = seconds or definition.seconds
    own = definition.folder / definition.driver
    if not is_installed(definition):
        named = f"{definition.name}@{definition.version}"
        raise Unusable(f"{named} is not installed; run `conformance adapter install {named}`")
    if not definition.packages:
        interpreter = sys.executable if definition.language == "python" else _node()
        return Driver((interpreter, str(own)), definition.folder, definition.environment, due)
    folder = place(definition)
    if definition.language == "python":
        return Driver((str(python_in(folder)), str(own)), folder, definition.environment, due)
    copied = _copied(definition, folder)
    return Driver((_node(), str(copied / definition.name / definition.driver)), folder, definition.environment, due)


def _node() -> str:
    found = shutil.which("node")
    if found is None:
        message = "there is no node on the PATH; install Node.js"
        raise Unusable(message)
    return found


def _copied(definition: Definition, folder: Path) -> Path:
    """Return a folder inside an environment that holds the driver and what drivers share.

    Node looks for packages from a file's own folder upwards, so that a driver has to stand inside of what it imports.
    Another state of these files has another folder: what runs is never changed under its feet.
    """
    sources = [each for each in (definition.folder, definition.folder.parent / _SHARED) if each.is_dir()]
    files = sorted([path for source in sources for path in source.rglob("*") if path.is_file()])
    digest = hashlib.sha256(b"\0".join([str(path).encode() + b"\0" + path.read_bytes() for path in files]))
    target = folder / "drivers" / digest.hexdigest()[:12]
    if not target.is_dir():
        target.parent.mkdir(exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=target.parent))
        for source in sources:
            shutil.copytree(source, scratch / source.name)
        # Another process may have been quicker, with the same files.
        with suppress(OSError):
            scratch.rename(target)
        shutil.rmtree(scratch, ignore_errors=True)
    return target
