"""YAML as JSON values, with the line of each key and item."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from conformance.documents.bounds import BOUNDS, Bounds, check_size, read_bytes
from conformance.documents.pointer import ancestry
from conformance.errors import InvalidDocument


class Document(NamedTuple):
    """The value of a YAML text, and for each key or item, by JSON Pointer, the line (1-based) on which it begins."""

    value: Any
    lines: Mapping[str, int]
    file: str = ""

    def line(self, pointer: str) -> int | None:
        """Return the line of the value at a pointer, or of its nearest existing ancestor."""
        return next((self.lines[found] for found in ancestry(pointer) if found in self.lines), None)


def parse_yaml(data: bytes, file: str = "<input>", bounds: Bounds = BOUNDS, *, foreign: bool = False) -> Document:
    """Return the document of a YAML text.

    Every scalar is a string except `true`, `false`, `null`, `~`, an empty one, and numbers in JSON's notation: dates,
    `no` and `1:30` stay as written. Raises InvalidDocument for a syntax error, a second document, a duplicate key, a
    key that is not a string, a merge key, an alias, a tag other than `!!str`, an integer beyond 64 bits, bytes that
    are not UTF-8, and a text beyond the bounds.

    `foreign` is for files written by other tools: aliases are followed, `!!binary` becomes bytes, other tags are
    ignored, and keys are taken as spelled.
    """
    check_size(data, file, bounds)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"expected Unicode text, got the byte 0x{data[error.start]:02X}, which is not UTF-8"
        raise InvalidDocument(message, file, line) from None
    # Imported here because PyYAML takes as long to import as everything else together.
    from conformance.documents.yaml_values import compose

    value, lines = compose(text, file, bounds, foreign=foreign)
    return Document(value, lines, file)


def read_yaml(path: Path, bounds: Bounds = BOUNDS) -> Document:
    """Return the document of a YAML file; raises InvalidDocument as `parse_yaml` does, and if it cannot be read."""
    return parse_yaml(read_bytes(path, bounds), str(path), bounds)
