"""The page of the JSON Schemas, from the schemas."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conformance.documents import read_json
from conformance.reporting.text import markdown_table, prose
from conformance.resources import folder

_INTRODUCTION = """\
# Schemas

All are JSON Schema 2020-12, and need no Python. A schema checks one value; `conformance check` also checks how the
values of a conversation fit each other. [The canonical wire](../canonical-wire.md) shows how to use them with
`check-jsonschema` and ajv.
"""

_FOLDERS = {
    "canonical": ("The canonical wire", "What crosses the wire between a client and a provider."),
    "bundled": (
        "The canonical wire, in single files",
        "The same schemas, each in one file that refers to no other, for validators of other languages.",
    ),
    "wires": ("Other wires", "Requests, replies and events of APIs that are translated into chat completions."),
    "dialects": ("Other message formats", "What the [converter](../converter.md) reads and writes."),
    "files": (
        "Files of this project",
        "Profiles, scenarios, results and other files that the commands read and write.",
    ),
}


def page() -> str:
    """Return the page: the schemas by their folders, each with its properties."""
    lines = [_INTRODUCTION]
    for name, (title, about) in _FOLDERS.items():
        lines += [f"## {title}", "", about, ""]
        paths = sorted((folder("schemas") / name).rglob("*.json"))
        if name == "bundled":
            lines += [f"- {_link(path)}" for path in paths] + [""]
        else:
            lines += [line for path in paths for line in _schema(path)]
    return "\n".join(lines)


def _link(path: Path) -> str:
    place = f"schemas/{path.relative_to(folder('schemas')).as_posix()}"
    return f"[`{place}`](../../{place})"


def _schema(path: Path) -> Iterator[str]:
    schema: Any = read_json(path)
    yield from (f"### {schema.get('title', path.stem)}", "", _link(path), "")
    if schema.get("description"):
        yield from (prose(schema["description"]), "")
    required = schema.get("required", ())
    rows = [
        (f"`{name}`", "required" if name in required else "", prose(_description(each, schema)))
        for name, each in schema.get("properties", {}).items()
    ]
    if rows:
        yield from (markdown_table(("key", "", "meaning"), rows), "")


def _description(value: Any, schema: Mapping[str, Any]) -> str:
    """Return what a schema says of a property, in its own place or in the definition that it refers to."""
    if not isinstance(value, dict):
        return ""
    reference = str(value.get("$ref", ""))
    if "description" not in value and reference.startswith("#/$defs/"):
        value = schema["$defs"].get(reference.rpartition("/")[2], {})
    return str(value.get("description", ""))
