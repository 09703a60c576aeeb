"""What a document may be at most, and how its bytes are fetched within that."""

from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from conformance.errors import InvalidDocument

JSON: TypeAlias = bool | int | float | str | list[Any] | dict[str, Any] | None
"""A value as JSON knows it."""


class Bounds(NamedTuple):
    """The size in bytes, the depth in nested arrays and objects, and for YAML the values after aliases are followed.

    The depth is the one to which orjson renders a value, so that on the usual path the bound costs nothing.
    """

    bytes: int = 64 * 1024 * 1024
    depth: int = 254
    values: int = 1_000_000


BOUNDS: Final = Bounds()


def read_bytes(path: Path, bounds: Bounds = BOUNDS) -> bytes:
    """Return what a file holds; raises InvalidDocument where it cannot be read or is larger than the bound."""
    try:
        with path.open("rb") as stream:
            data = stream.read(bounds.bytes + 1)
    except OSError as error:
        raise InvalidDocument(f"cannot be read: {error.strerror}", str(path)) from None
    check_size(data, str(path), bounds)
    return data


def check_size(data: bytes, file: str, bounds: Bounds = BOUNDS) -> None:
    """Raise InvalidDocument where the bytes are more than the bound."""
    if len(data) > bounds.bytes:
        message = f"expected at most {bounds.bytes} bytes, got more"
        raise InvalidDocument(message, file)
