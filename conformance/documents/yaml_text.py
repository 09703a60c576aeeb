"""YAML as values that JSON knows, with the line of each key and item."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from conformance.documents.bounds import BOUNDS, Bounds, check_size, read_bytes
from conformance.errors import InvalidDocument


class Document(NamedTuple):
    """The value of a YAML text, and by JSON Pointer the line (1-based) on which each key or item begins."""

    value: Any
    lines: Mapping[str, int]
    file: str = ""

    def line(self, pointer: str) -> int | None:
        """Return the line of what the pointer leads to, or of its nearest ancestor that is there."""
        while pointer and pointer not in self.lines:
            pointer = pointer.rpartition("/")[0]
        return self.lines.get(pointer)


def parse_yaml(data: bytes, file: str = "<input>", bounds: Bounds = BOUNDS, *, foreign: bool = False) -> Document:
    """Return the document of a YAML text.

    Only `true`, `false`, `null`, `~`, nothing at all and numbers as JSON writes them are not strings: dates, `no`
    and `1:30` stay what was written. Raises InvalidDocument for a syntax error, a second document, a key given
    twice, a key that is not a string, a merge key, an alias, a tag beyond `!!str`, an integer beyond 64 bit, bytes
    that are not UTF-8, and a text beyond the bounds.

    `foreign` is for files that other tools wrote: aliases are followed, `!!binary` becomes bytes, other tags are
    passed over, and a key is taken as it is spelled.
    """
    check_size(data, file, bounds)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"expected Unicode text, got the byte 0x{data[error.start]:02X}, which is not UTF-8"
        raise InvalidDocument(message, file, line) from None
    # Imported here because PyYAML costs as much start-up time as everything else together.
    from conformance.documents.yaml_values import compose

    value, lines = compose(text, file, bounds, foreign=foreign)
    return Document(value, lines, file)


def read_yaml(path: Path, bounds: Bounds = BOUNDS) -> Document:
    """Return the document of a YAML file; raises InvalidDocument as `parse_yaml` does, and where it cannot be read."""
    return parse_yaml(read_bytes(path, bounds), str(path), bounds)
