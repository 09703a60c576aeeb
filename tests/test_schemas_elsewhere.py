"""The schemas in other tools: ajv compiles all of them, and a bundled schema finds what its canonical one finds."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conformance import environments
from conformance.documents import read_json
from conformance.resources import folder
from conformance.schemas import validator
from tests.checks import ajv, bundled
from tests.loops import every

ROOT = folder("schemas")
STEP = "python -m tests.checks.ajv"


@pytest.fixture
def packages() -> Path:
    """Return the folder in which the step of CI has installed ajv."""
    if shutil.which("node") is None or not environments.is_complete(ajv.cached()):
        pytest.skip(f"ajv is not installed ({STEP}): the schemas are NOT compiled by ajv")
    return ajv.cached()


@pytest.mark.exhaustive  # CI runs the step that does the same.
def test_ajv_compiles_every_schema_with_strict_defaults_and_passes_the_examples(packages: Path) -> None:
    assert [] == ajv.errors(ajv.all_schemas(), packages)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"type": "object", "unknownKeyword": 1}, "strict mode"),
        ({"type": "string", "examples": [1]}, "must be string"),
        ({"$ref": "missing.json"}, "can't resolve reference"),
    ],
)
def test_ajv_reports_a_wrong_schema(wrong: dict[str, Any], reason: str, packages: Path) -> None:
    (found,) = ajv.errors([{"$id": "https://example.org/a.json", **wrong}], packages)
    assert reason in found


def test_ci_compiles_the_schemas_with_a_pinned_ajv() -> None:
    assert f" '{STEP}'\n" in (ROOT.parent / ".ci" / "run").read_text("utf-8")
    assert all(re.fullmatch(r"[a-z-]+@\d+\.\d+\.\d+", package) for package in ajv.PACKAGES)


def test_without_node_the_check_says_that_nothing_was_compiled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert 0 == ajv.main()
    assert "ajv: NOT RUN: node and npm not on the PATH" in capsys.readouterr().out


def test_check_jsonschema_takes_a_bundled_schema() -> None:
    program = shutil.which("check-jsonschema")
    if program is None:
        pytest.skip("check-jsonschema is not installed: the bundled schemas are NOT tested with it")
    example = Path("docs/examples/lost-reasoning.json")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [program, "--schemafile", str(ROOT / "bundled" / "request.json"), str(example)]
    done = subprocess.run(command, cwd=ROOT.parent, env=environment, capture_output=True, check=False)
    assert (0, b"ok") == (done.returncode, done.stdout[:2])


def test_the_bundled_schemas_are_up_to_date() -> None:
    assert [] == list(bundled.errors())


def test_every_type_of_the_canonical_wire_is_bundled() -> None:
    types = {path.stem for path in (ROOT / "canonical").glob("*.json")} - {"error-shapes"}
    assert types == set(bundled.NAMES)


def references(value: Any) -> list[str]:
    if isinstance(value, list):
        return [found for item in value for found in references(item)]
    if not isinstance(value, dict):
        return []
    own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
    return own + [found for item in value.values() for found in references(item)]


@every("name", bundled.NAMES)
def test_a_bundled_schema_refers_only_to_itself(name: str) -> None:
    assert [] == [found for found in references(read_json(bundled.path(name))) if not found.startswith("#")]


@every("name", bundled.NAMES)
def test_a_bundled_schema_finds_the_same_errors(name: str) -> None:
    schema: Any = read_json(ROOT / "canonical" / f"{name}.json")
    values = [3, {}, [], [{}], [{"role": "user", "content": [{"type": "text"}]}], *schema["examples"]]
    values += [{**value, "role": 3, "type": 4} for value in schema["examples"] if isinstance(value, dict)]
    for value in values:
        assert validator(f"canonical/{name}").errors(value) == validator(f"bundled/{name}").errors(value)
