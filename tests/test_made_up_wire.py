"""A fifth wire: a folder, its schemas and a section of a profile are all that it takes; nothing else knows of it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
MADE_UP = Path(__file__).parent / "made_up"


def linked(source: Path, target: Path, without: str) -> None:
    """Make a folder with links to all that another holds, but for one entry, which is left to the caller."""
    target.mkdir()
    for each in source.iterdir():
        if each.name != without:
            (target / each.name).symlink_to(each)


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return what the made-up wire was used for, in a copy of the package that has it."""
    home = tmp_path_factory.mktemp("fifth")
    package, schemas = home / "conformance", home / "schemas"
    linked(ROOT / "conformance", package, "wires")
    linked(ROOT / "conformance" / "wires", package / "wires", "parrot")
    (package / "wires" / "parrot").symlink_to(MADE_UP / "wire")
    (package / "profiles").unlink()
    linked(ROOT / "conformance" / "profiles", package / "profiles", "parrot.yaml")
    (package / "profiles" / "parrot.yaml").symlink_to(MADE_UP / "parrot.yaml")
    linked(ROOT / "schemas", schemas, "wires")
    linked(ROOT / "schemas" / "wires", schemas / "wires", "parrot")
    (schemas / "wires" / "parrot").symlink_to(MADE_UP / "schemas")
    for name in ("reports", "fixtures", "cassettes"):
        (home / name).symlink_to(ROOT / name)
    done = subprocess.run(
        [sys.executable, "-P", str(MADE_UP / "use.py")],
        capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "PYTHONPATH": str(home)}, cwd=home,
    )  # fmt: skip
    assert "" == done.stderr
    return json.loads(done.stdout)


def test_the_folder_is_the_registry(used: Any) -> None:
    assert ["chat", "gemini", "messages", "parrot", "responses"] == used["names"]
    assert ["parrot"] == used["provider"]


def test_the_rules_judge_it_and_point_into_its_own_body(used: Any) -> None:
    assert {
        "transcript/calls-answered": ["/0/request/utterances/1/chores/0"],
        "transcript/result-answers-call": ["/0/request/utterances/2/tag"],
    } == used["failed"]
    assert ["/0/request/utterances/0/who"] == used["shape"]


def test_it_is_converted_and_what_is_lost_is_named(used: Any) -> None:
    assert ["/model"] == used["lost"]
    assert ["user", "assistant", "user"] == used["messages"]
    assert used["back"]
    assert ["/messages/1/reasoning_content: a parrot has no such feather"] == used["prepared"]


def test_it_is_served_plain_and_streamed(used: Any) -> None:
    assert "parrot" == used["served"]
    assert 2 == used["streamed"]
