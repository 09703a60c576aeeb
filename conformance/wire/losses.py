"""What a conversion cannot carry over: each value by its place, with the reason."""

from typing import Any, NamedTuple

from conformance.documents.pointer import Place, render


class Loss(NamedTuple):
    """Something that the other side cannot hold: a JSON Pointer into the input, and the reason."""

    pointer: str
    reason: str


class Converted(NamedTuple):
    """The result of a conversion, and what it could not carry over."""

    value: Any
    lost: tuple[Loss, ...] = ()


class Losses:
    """Collects the losses of a conversion."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: list[Loss] = []

    def add(self, place: Place, reason: str) -> None:
        """Note that the value at a place is not carried over."""
        self._found.append(Loss(render(place), reason))

    def converted(self, value: Any) -> Converted:
        """Return a value together with the losses."""
        return Converted(value, tuple(self._found))
