"""The schemas in other tools: ajv compiles all of them, and a bundled schema finds what its canonical one finds."""

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conformance.documents import read_json
from conformance.resources import folder
from conformance.schemas import validator
from tests.checks import bundled

ROOT = folder("schemas")
NODE = shutil.which("node")

COMPILE = """
const Ajv = require("ajv/dist/2020").default;
const schemas = JSON.parse(require("fs").readFileSync(0, "utf8"));
const failed = [];
for (const own of schemas) {
  try {
    const ajv = new Ajv({ logger: false });
    const alone = own.$id.includes("/bundled/");
    for (const other of schemas) if (!alone && other !== own) ajv.addSchema(other);
    const passes = ajv.compile(own);
    for (const example of own.examples || []) if (!passes(example)) throw new Error(ajv.errorsText(passes.errors));
  } catch (error) {
    failed.push(`${own.$id}: ${error.message}`);
  }
}
console.log(JSON.stringify(failed));
"""


@cache
def has_ajv() -> bool:
    if NODE is None:
        return False
    return subprocess.run([NODE, "-e", 'require("ajv/dist/2020")'], capture_output=True, check=False).returncode == 0


def test_ajv_compiles_every_schema_with_strict_defaults_and_passes_the_examples() -> None:
    if NODE is None or not has_ajv():
        pytest.skip("node does not find ajv (npm install ajv; NODE_PATH): the schemas are NOT compiled by ajv")
    schemas = [read_json(path) for path in sorted(ROOT.rglob("*.json"))]
    done = subprocess.run([NODE, "-e", COMPILE], input=json.dumps(schemas).encode(), capture_output=True, check=True)
    assert [] == json.loads(done.stdout)


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


@pytest.mark.parametrize("name", bundled.NAMES)
def test_a_bundled_schema_refers_only_to_itself(name: str) -> None:
    assert [] == [found for found in references(read_json(bundled.path(name))) if not found.startswith("#")]


@pytest.mark.parametrize("name", bundled.NAMES)
def test_a_bundled_schema_finds_the_same_errors(name: str) -> None:
    schema: Any = read_json(ROOT / "canonical" / f"{name}.json")
    values = [3, {}, [], [{}], [{"role": "user", "content": [{"type": "text"}]}], *schema["examples"]]
    values += [{**value, "role": 3, "type": 4} for value in schema["examples"] if isinstance(value, dict)]
    for value in values:
        assert validator(f"canonical/{name}").errors(value) == validator(f"bundled/{name}").errors(value)
