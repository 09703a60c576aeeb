"""Environments of adapters: each version of an adapter has its own, outside the one that this package is in."""

import hashlib
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from conformance import artifacts, environments
from conformance.adapters.definition import AdapterDefinition
from conformance.adapters.driver import Driver
from conformance.environments import Log
from conformance.errors import Unusable

_KIND: Final = "adapters"
_AGENT_DRIVER: Final = Path(__file__).with_name("agent_driver.py")
_SHARED: Final = "_node"
"""The folder, beside those of the adapters, that all drivers for Node share."""


def environment_path(definition: AdapterDefinition) -> Path:
    """Return the folder of an adapter's environment."""
    recipe = [definition.language, *definition.packages]
    name = definition.agent.get("family", definition.name)
    return environments.cached_path(artifacts.cache_root(_KIND), f"{name}@{definition.version}", recipe)


def is_installed(definition: AdapterDefinition) -> bool:
    """Return whether an adapter can be driven now; one without packages always can."""
    return not definition.packages or environments.is_complete(environment_path(definition))


def install(definition: AdapterDefinition, log: Log) -> Path:
    """Return the environment of an adapter, created if there is none; raises Unusable if that fails."""

    def create(folder: Path) -> None:
        if definition.language == "node":
            environments.npm_install(folder, definition.packages, log)
        else:
            environments.create_venv(folder, [definition.packages], (), log)

    return environments.ensure(environment_path(definition), create, log)


def driver(definition: AdapterDefinition, seconds: float | None = None) -> Driver:
    """Return the driver of an adapter; raises Unusable if the adapter is not installed."""
    timeout = seconds or definition.seconds
    if not is_installed(definition):
        named = f"{definition.name}@{definition.version}"
        raise Unusable(f"{named} is not installed; run `conformance adapter install {named}`")
    if definition.agent:
        return _agent_driver(definition, timeout)
    script = definition.folder / definition.driver
    if not definition.packages:
        interpreter = sys.executable if definition.language == "python" else _node()
        return Driver((interpreter, str(script)), environment=definition.environment, seconds=timeout)
    folder = environment_path(definition)
    if definition.language == "python":
        command = (str(environments.python_in(folder)), str(script))
    else:
        command = (_node(), str(_copied(definition, folder) / definition.name / definition.driver))
    return Driver(command, environment=definition.environment, seconds=timeout)


def _agent_driver(definition: AdapterDefinition, timeout: float) -> Driver:
    """Return the program that runs a whole agent, which gets a description of how to start it."""
    about = {
        **definition.agent,
        "folder": str(environment_path(definition)),
        "node": _node() if definition.language == "node" else "",
        "package": definition.package,
        "version": definition.version,
        "others": dict(definition.others),
    }
    command = (sys.executable, "-I", str(_AGENT_DRIVER))
    return Driver(command, environment=definition.environment, seconds=timeout, agent=about)


def _node() -> str:
    found = shutil.which("node")
    if found is None:
        message = "node is not on the PATH; install Node.js"
        raise Unusable(message)
    return found


def _copied(definition: AdapterDefinition, folder: Path) -> Path:
    """Return a folder inside an environment with copies of the driver and of the files that drivers share.

    Node looks for packages from a file's own folder upwards, so a driver must stand inside the environment that has its
    packages. Each state of the files has its own folder, so that files are never replaced while a driver runs.
    """
    sources = [source for source in (definition.folder, definition.folder.parent / _SHARED) if source.is_dir()]
    files = sorted([path for source in sources for path in source.rglob("*") if path.is_file()])
    named = [(path.relative_to(definition.folder.parent).as_posix(), path.read_bytes()) for path in files]
    digest = hashlib.sha256(b"\0".join([name.encode() + b"\0" + content for name, content in named]))
    target = folder / "drivers" / digest.hexdigest()[:12]
    if not target.is_dir():
        target.parent.mkdir(exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=target.parent))
        for source in sources:
            shutil.copytree(source, scratch / source.name)
        # Another process may have created the same folder in the meantime.
        with suppress(OSError):
            scratch.rename(target)
        shutil.rmtree(scratch, ignore_errors=True)
    return target
