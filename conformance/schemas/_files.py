"""The schema files, by name and by `$id`."""

from functools import cache
from typing import Any, Final
from urllib.parse import urljoin

import orjson

from conformance.errors import InvalidDocument, UnknownName
from conformance.resources import folder

BASE: Final = "https://wire-conformance.example/schemas/"
"""The start of every `$id` under `schemas/`. The domain is reserved for examples, so nobody can ever serve it."""


@cache
def read(path: str) -> dict[str, Any]:
    """Return the schema in a file, named by its path under `schemas/` without the extension."""
    root = folder("schemas")
    try:
        schema: dict[str, Any] = orjson.loads((root / f"{path}.json").read_bytes())
    except FileNotFoundError:
        known = (each.relative_to(root).with_suffix("").as_posix() for each in root.rglob("*.json"))
        raise UnknownName("schema", path, known) from None
    except orjson.JSONDecodeError as error:
        raise InvalidDocument(error.msg, f"schemas/{path}.json", error.lineno) from None
    return schema


def fetch(uri: str) -> dict[str, Any]:
    """Return the schema with this `$id`. Validators resolve `$ref` here, so nothing goes to the network."""
    return read(uri.removeprefix(BASE).partition("#")[0].removesuffix(".json"))


def referenced(schema: Any) -> dict[str, dict[str, Any]]:
    """Return the schemas that a schema refers to, and those that these refer to, by their addresses."""
    found: dict[str, dict[str, Any]] = {}
    waiting: list[tuple[Any, str]] = [(schema, str(schema.get("$id", BASE)))]
    while waiting:
        value, base = waiting.pop()
        if isinstance(value, list):
            waiting += [(each, base) for each in value]
        elif isinstance(value, dict):
            address = urljoin(base, value["$ref"]).partition("#")[0] if isinstance(value.get("$ref"), str) else base
            if address != base and address not in found and address.startswith(BASE):
                found[address] = fetch(address)
                waiting.append((found[address], address))
            waiting += [(each, base) for each in value.values()]
    return found


def entry(name: str) -> dict[str, Any]:
    """Return the schema of that name, or a reference to it if the name points into a file."""
    path, _, inside = name.partition("#")
    return {"$ref": f"{BASE}{path}.json#{inside}"} if inside else read(path)
