"""The bundled schemas: each type of the canonical wire in one file, for tools that resolve no references to files.

python -m tests.checks.bundled writes them; tests.checks.data fails if one is stale.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from conformance.documents import read_json
from conformance.resources import folder

NAMES: Final = (
    "request", "response", "chunk", "stream", "error", "message", "transcript", "content-part", "reasoning-detail",
    "tool-call", "tool-definition",
)  # fmt: skip
_OF_FILE: Final = ("$schema", "$id", "examples")


def bundled(name: str) -> dict[str, Any]:
    """Return a canonical schema with everything that it refers to under its `$defs`."""
    embedded: dict[str, Any] = {}
    schema = _relocated(_read(name), name, name, embedded)
    others = {other: embedded[other] for other in sorted(embedded)}
    identity = schema["$id"].replace("/canonical/", "/bundled/")
    return {**schema, "$id": identity, "$defs": {**schema.get("$defs", {}), **others}}


def _read(name: str) -> dict[str, Any]:
    schema = read_json(folder("schemas") / "canonical" / f"{name}.json")
    assert isinstance(schema, dict)
    return schema


def _relocated(value: Any, name: str, root: str, embedded: dict[str, Any]) -> Any:
    """Return a part of the schema of a name with references into the bundle."""
    if isinstance(value, list):
        return [_relocated(item, name, root, embedded) for item in value]
    if not isinstance(value, dict):
        return value
    result = {key: item if key == "examples" else _relocated(item, name, root, embedded) for key, item in value.items()}
    if isinstance(reference := value.get("$ref"), str):
        file, _, pointer = reference.partition("#")
        target = file.removesuffix(".json") or name
        result["$ref"] = _embed(target, root, embedded) + pointer
    return result


def _embed(name: str, root: str, embedded: dict[str, Any]) -> str:
    """Return the pointer to the schema of a name in the bundle, after adding the schema if it is not there yet."""
    if name == root:
        return "#"
    at = f"#/$defs/{name}"
    if name not in embedded:
        embedded[name] = {}
        given = {key: value for key, value in _read(name).items() if key not in _OF_FILE}
        embedded[name] = _relocated(given, name, root, embedded)
    return at


def text(name: str) -> str:
    """Return the text of a bundled schema."""
    return json.dumps(bundled(name), indent=2, ensure_ascii=False) + "\n"


def path(name: str) -> Path:
    """Return the path of a bundled schema."""
    return folder("schemas") / "bundled" / f"{name}.json"


def errors() -> Iterator[str]:
    """Yield each bundled schema that is missing, stale or not made from a canonical one."""
    for name in NAMES:
        if not path(name).is_file() or text(name) != path(name).read_text("utf-8"):
            yield f"schemas/bundled/{name}.json is stale: run python -m tests.checks.bundled"
    for unknown in sorted({*path("").parent.iterdir()} - {path(name) for name in NAMES}):
        yield f"schemas/bundled/{unknown.name} is not made by tests.checks.bundled"


def main() -> int:
    path("").parent.mkdir(exist_ok=True)
    for name in NAMES:
        path(name).write_text(text(name), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
