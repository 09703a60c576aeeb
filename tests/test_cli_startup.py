"""What the command imports, because imports are most of the time that it takes to start.

`python -m tests.benchmarks` measures that time.
"""

import subprocess
import sys

import pytest

import conformance
from conformance.cli import _registry, main
from tests.checking import ENVIRONMENT, GOOD, write
from tests.sampling import some

COMMANDS = {_registry.module(words) for words in _registry.commands()}
HEAVY = {
    "aiohttp",
    "httpx",
    "vcr",
    "yaml",
    "jsonschema",
    "pytest",
    "hypothesis",
    "tabulate",
    "shutil",
    "gzip",
    "multiprocessing",
}
HEAVY |= {"concurrent.futures", "hashlib", "http.server", "importlib.metadata", "rstr", "shtab", "textwrap"}
MAX_OWN = 105
MAX_OTHERS = 12


def imported(*arguments: object) -> set[str]:
    """Return the modules that the command imports, except those of pathlib and the two libraries that it has to load.

    What pathlib imports differs by the version of Python.
    """
    code = "import sys, pathlib, orjson, jsonschema_rs; before = set(sys.modules); from conformance.cli import main; "
    code += "main(sys.argv[1:]); print(*set(sys.modules) - before, file=sys.stderr)"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return set(subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=True).stderr.decode().split())


def own(modules: set[str]) -> set[str]:
    """Return the modules of the package, without its rules, each of which is a module."""
    return {name for name in modules if name.split(".")[0] == "conformance" and name.split(".")[1:2] != ["rules"]}


@pytest.fixture(scope="module")
def checking(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    return imported("check", "--provider", "none", write(tmp_path_factory.mktemp("start") / "small.json", GOOD))


def test_a_verb_imports_no_other_verb_and_no_heavy_module(checking: set[str]) -> None:
    assert {"conformance.cli.traffic.check"} == checking & COMMANDS
    assert set() == checking & HEAVY


@pytest.mark.parametrize("words", [("report", "diff"), ("evidence", "fetch"), ("report", "statement", "make")])
def test_an_action_imports_no_other_action(words: tuple[str, ...]) -> None:
    above = {_registry.module(words[:length]) for length in range(1, len(words) + 1)}
    assert above == imported(*words, "--help") & COMMANDS


def test_a_command_with_actions_imports_none_of_them() -> None:
    assert {"conformance.cli.providers.provider"} == imported("provider", "--help") & COMMANDS


def test_checking_a_small_file_imports_few_modules(checking: set[str]) -> None:
    assert len(own(checking)) <= MAX_OWN
    assert len({name for name in checking if name.split(".")[0] != "conformance"}) <= MAX_OTHERS


@pytest.mark.parametrize("option", some(["--help", "--version", "-h"]))
def test_the_help_and_the_version_import_nothing_but_themselves(option: str) -> None:
    expected = {"conformance", "conformance.cli", "conformance.cli._overview", "conformance.cli._registry"}
    assert expected == imported(option) - {"gc"}


def test_the_version_of_the_command_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["--version"])
    assert f"conformance {conformance.__version__}\n" == capsys.readouterr().out


@pytest.mark.parametrize("option", some(["--help", "--version"]))
def test_a_terminal_that_lacks_characters_is_no_error(option: str) -> None:
    command = [sys.executable, "-m", "conformance", option]
    finished = subprocess.run(
        command, env={**ENVIRONMENT, "PYTHONIOENCODING": "ascii"}, capture_output=True, check=False
    )
    assert (0, b"") == (finished.returncode, finished.stderr)
