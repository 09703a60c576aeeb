"""How large a document may be, and reading a file within that bound."""

from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from conformance.errors import InvalidDocument

JSON: TypeAlias = bool | int | float | str | list[Any] | dict[str, Any] | None
"""A JSON value."""

INTEGERS: Final = range(-(2**63), 2**64)
"""The integers that a document may hold: those of 64 bits, signed or unsigned."""


class Bounds(NamedTuple):
    """The size in bytes, the depth of nested arrays and objects, and for YAML the values once aliases are followed.

    The depth is the maximum that orjson can render, so on the usual path the bound costs nothing.
    """

    bytes: int = 64 * 1024 * 1024
    depth: int = 254
    values: int = 1_000_000


BOUNDS: Final = Bounds()


def read_bytes(path: Path, bounds: Bounds = BOUNDS) -> bytes:
    """Return the content of a file; raises InvalidDocument if it cannot be read or exceeds the bound."""
    try:
        with path.open("rb") as stream:
            data = stream.read(bounds.bytes + 1)
    except OSError as error:
        raise InvalidDocument(f"cannot be read: {error.strerror}", str(path)) from None
    check_size(data, str(path), bounds)
    return data


def check_size(data: bytes, file: str, bounds: Bounds = BOUNDS) -> None:
    """Raise InvalidDocument if the data exceed the bound."""
    if len(data) > bounds.bytes:
        message = f"expected at most {bounds.bytes} bytes, got more"
        raise InvalidDocument(message, file)
