"""ajv compiles every schema with its strict defaults, and the examples in a schema are valid by it.

    python -m tests.checks.ajv

ajv comes from the package index, pinned, into a folder of its own. Without node or npm, nothing is checked, and the
last line says so.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conformance import artifacts, environments
from conformance.documents import read_json
from conformance.resources import folder

PACKAGES = ("ajv@8.20.0",)

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


def all_schemas() -> list[Any]:
    """Return every schema of the project."""
    return [read_json(path) for path in sorted(folder("schemas").rglob("*.json"))]


def errors(schemas: Sequence[Any], packages: Path) -> list[str]:
    """Return why ajv, installed in a folder, does not compile schemas or rejects an example in one."""
    command = [shutil.which("node") or "node", "-e", COMPILE]
    environment = {**os.environ, "NODE_PATH": str(packages / "node_modules")}
    given = json.dumps(schemas).encode()
    done = subprocess.run(command, input=given, env=environment, capture_output=True, check=True)
    found: list[str] = json.loads(done.stdout)
    return found


def cached() -> Path:
    """Return the folder in which ajv is installed, or will be."""
    return environments.cached_path(artifacts.cache_root("checks"), "ajv", PACKAGES)


def main() -> int:
    missing = [program for program in ("node", "npm") if shutil.which(program) is None]
    if missing:
        print(f"ajv: NOT RUN: {' and '.join(missing)} not on the PATH, so the schemas were NOT compiled by ajv")
        return 0
    packages = environments.ensure(cached(), lambda created: environments.npm_install(created, PACKAGES, print), print)
    schemas = all_schemas()
    found = errors(schemas, packages)
    print("\n".join(found) or f"ajv: compiles all {len(schemas)} schemas and passes their examples")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
