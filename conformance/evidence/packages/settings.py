"""Which registries pip, uv and npm are configured to use on this machine."""

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from typing import Final

from conformance import processes

PYPI: Final = "https://pypi.org/simple"
NPM: Final = "https://registry.npmjs.org"

_VARIABLES: Final = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL")
_SETTING: Final = re.compile(r"(?:global|install|download)\.index-url='(https?://[^']+)'")
_SECONDS: Final = 30.0
_PIP: Final = ("PIP_CONFIG_FILE", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "VIRTUAL_ENV")
_NPM: Final = ("NPM_CONFIG_REGISTRY", "npm_config_registry", "NPM_CONFIG_USERCONFIG", "npm_config_userconfig")


@cache
def pypi() -> str:
    """Return the simple index of Python packages: that of the environment, else pip's, else PyPI's.

    Further indexes (`extra-index-url`, `find-links`) are not asked: anyone can upload a package of the same name there.
    """
    named = next((os.environ[name] for name in _VARIABLES if os.environ.get(name)), "")
    printed = "" if named else _printed([sys.executable, "-m", "pip", "config", "list"], _PIP)
    found = _SETTING.search(printed)
    return (named or (found[1] if found else PYPI)).rstrip("/")


@cache
def npm(scope: str = "") -> str:
    """Return the registry of npm packages; one scope, such as `@ai-sdk`, may have its own."""
    command = shutil.which("npm")
    names = [*([f"{scope}:registry"] if scope else []), "registry"]
    for name in names if command else ():
        printed = _printed([str(command), "config", "get", name], _NPM).strip()
        if printed.startswith(("http://", "https://")):
            return printed.rstrip("/")
    named = [value for name, value in os.environ.items() if name.lower() == "npm_config_registry"]
    return (named[0] if named else NPM).rstrip("/")


def _printed(command: list[str], names: tuple[str, ...]) -> str:
    """Return what a command prints; empty if it cannot be run."""
    try:
        code, printed, _ = processes.output(command, _SECONDS, processes.inherited(*names), errors=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if code else printed.decode("utf-8", "replace")
