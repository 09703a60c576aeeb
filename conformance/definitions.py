"""Definition files: the YAML files of this project's own kinds, each with a schema under `schemas/files/`.

Profiles, engines, adapters, scenarios, baselines and cassette manifests are all read here, so that every error in one
names file, line and JSON Pointer in the same way.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from conformance.documents import Bounds, Document, read_yaml
from conformance.documents.pointer import Place, render
from conformance.errors import InvalidDocument, UnknownName
from conformance.schemas import SchemaError, validator

Check: TypeAlias = Callable[[Any], Iterable[tuple[Place, str]]]
"""Finds what a schema cannot express: takes the value of a file and yields the place and message of each error."""

BRACES: Final = re.compile(r"\{([a-z][a-z0-9-]*)\}")
"""A word in braces, which stands for a value in the commands and files of engines and gateways."""

_NAME = re.compile(r"[\w.-]{1,200}", re.ASCII)  # no longer than the name of a file can be

DEFINITION: Final = Bounds(bytes=2 * 1024 * 1024)
"""How large a definition file may be; the largest of this project has 0.12 MB."""


def filled(text: str, known: Mapping[str, str]) -> str:
    """Return a text with known words in braces replaced; other braces stay."""
    # In one pass: a value may have words in braces of its own.
    return BRACES.sub(lambda match: known.get(match[1], match[0]), text)


def find(kind: str, name: str, folder: Path) -> Path:
    """Return `<folder>/<name>.yaml`; raises UnknownName, with the nearest names, if there is no such file."""
    path = folder / f"{name}.yaml"
    if not _NAME.fullmatch(name) or name.startswith("_") or not path.is_file():
        raise UnknownName(kind, name, names(folder))
    return path


def names(folder: Path) -> tuple[str, ...]:
    """Return the names of the definition files in a folder, sorted; a leading underscore hides a file."""
    return tuple(sorted([path.stem for path in folder.glob("*.yaml") if not path.stem.startswith("_")]))


def read(
    path: Path, schema: str, check: Check | None = None, reword: Callable[[SchemaError], str] | None = None
) -> Document:
    """Return the document in a definition file.

    `schema` is the name of its kind, such as `profile` for `schemas/files/profile.json`. `check` runs once the schema
    holds. `reword` returns a better message for a schema error, or an empty string. Raises InvalidDocument for the
    first error.
    """
    document = read_yaml(path, DEFINITION)
    for error in errors(document, schema, check, reword):
        raise error
    return document


def errors(
    document: Document, schema: str, check: Check | None = None, reword: Callable[[SchemaError], str] | None = None
) -> Iterator[InvalidDocument]:
    """Yield every error in a definition file, as `read` would raise it; those of `check` only if the schema holds."""
    is_valid = True
    for error in validator(f"files/{schema}").errors(document.value):
        is_valid = False
        message = (reword(error) if reword is not None else "") or error.message
        yield invalid(document, (*error.place, *error.extra[:1]), message)
    for place, message in check(document.value) if check is not None and is_valid else ():
        yield invalid(document, place, message)


def invalid(document: Document, place: Place, message: str) -> InvalidDocument:
    """Return the error about a place in a document, with its file, line and pointer."""
    pointer = render(place)
    return InvalidDocument(message, document.file, document.line(pointer), pointer)
