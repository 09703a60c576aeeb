"""Runs of pytest and of the command in forks of one process that has imported the package.

A run in a new process spends most of its time on imports. What a run itself imports, how it behaves among other plugins
and how it ends by a signal is tested in processes of their own.
"""

import multiprocessing
import os
import sys
import time
from collections.abc import Mapping
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from tempfile import TemporaryDirectory
from typing import Final

import pytest

_PRELOADED: Final = [
    "pytest",
    "conformance.cli",
    "conformance.pytest_output",
    "conformance.pytest_results",
    "tests.warm",
]
_OWN_PLUGIN: Final = ("-p", "conformance.pytest_plugin", "-p", "no:cacheprovider")
"""The plugin of the package and no other: those of other packages would be imported again in every run."""

WITHOUT: Final = ("-p", "no:hypothesispytest", "-p", "no:anyio")
"""Of the plugins that this environment may have, those that no test is about, and that import most."""


@cache
def _forkserver() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return context


def run_pytest(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run pytest in the folder of a test, and return what it printed."""
    began = time.monotonic()
    done = suites(*arguments, folder=pytester.path, environment=os.environ)
    return pytest.RunResult(
        done.returncode, done.stdout.splitlines(), done.stderr.splitlines(), time.monotonic() - began
    )


def suites(*arguments: str, folder: Path, environment: Mapping[str, str]) -> CompletedProcess[str]:
    """Run pytest with the plugin of the package in a folder."""
    return _run("pytest", (*_OWN_PLUGIN, *arguments), folder, {**environment, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})


def command(*arguments: str, folder: Path, environment: Mapping[str, str]) -> CompletedProcess[str]:
    """Run the command of the package in a folder."""
    return _run("conformance", arguments, folder, environment)


def _run(
    name: str, arguments: tuple[str, ...], folder: Path, environment: Mapping[str, str], timeout: float = 120
) -> CompletedProcess[str]:
    """Run a program in a fork, which is killed if it takes longer than `timeout` seconds (TimeoutExpired)."""
    with TemporaryDirectory() as scratch:
        printed = [Path(scratch, each) for each in ("out", "err")]
        child = _forkserver().Process(target=_become, args=(name, arguments, str(folder), dict(environment), printed))
        child.start()
        child.join(timeout)
        if child.exitcode is None:
            child.kill()
            child.join()
            raise TimeoutExpired(name, timeout)
        return CompletedProcess([name, *arguments], child.exitcode, *[path.read_text() for path in printed])


def _become(
    name: str, arguments: tuple[str, ...], folder: str, environment: Mapping[str, str], printed: list[Path]
) -> None:
    """Become a program in a folder, with an environment, and with its output in two files."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for descriptor, path in enumerate(printed, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    # Nobody waits for input at a terminal.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv[:] = [name, *arguments]
    if name == "pytest":
        code = pytest.console_main()
    else:
        from conformance.cli import main

        code = main(list(arguments))
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(int(code))
