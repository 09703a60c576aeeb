"""Runs the tests once without any change, and keeps which lines each of them runs, and how long it takes.

This module is also the plugin of pytest that measures the time.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from tests.mutants.choosing import DATA, SECONDS
from tests.mutants.running import CHANGED, FOLDERS, run

_FOLDER: Final = "MUTANTS_MEASURED"
_SECONDS: dict[str, float] = {}


def measure(tree: Path, measured: Path, tests: Sequence[str]) -> None:
    """Run tests in a copy of the tree and fill a folder; raises RuntimeError if one fails."""
    measured.mkdir(parents=True, exist_ok=True)
    settings = tree / "mutants.coveragerc"
    named = ", ".join([each.removesuffix(".py").replace("/", ".") for each in (*CHANGED, *FOLDERS)])
    settings.write_text(
        f"[run]\nsource_pkgs = {named}\nrelative_files = true\ndata_file = {measured.resolve() / DATA}\n", "utf-8"
    )
    options = ["--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report=", "-p", __name__]
    ended = run(tree, [*options, *tests], None, {_FOLDER: str(measured.resolve())})
    if ended.code:
        message = f"the tests fail without any change: {ended.first or ended.code}"
        raise RuntimeError(message)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _SECONDS[report.nodeid] = _SECONDS.get(report.nodeid, 0.0) + report.duration


def pytest_sessionfinish() -> None:
    path = Path(os.environ[_FOLDER]) / SECONDS
    path.write_text(json.dumps(_SECONDS), "utf-8")
