"""The lines of a file that cannot be read, as one input: an error for each would hide all else."""

from collections.abc import Iterator
from typing import Final

from conformance.errors import InvalidDocument
from conformance.formats import Input

_KINDS: Final = ("jsonl", "parquet")
_KIND: Final = 24
"""After so many characters, messages of one kind name what they found."""
_SHOWN: Final = 10
"""How many of them are named."""


class BrokenLines:
    """The lines of one file that cannot be read, in constant memory."""

    def __init__(self) -> None:
        self._first: Input | None = None
        self._others: list[int] = []
        self._count = 0
        self._different = ""

    def add(self, found: Input) -> bool:
        """Add an input if it is a line that cannot be read, and return whether it is."""
        if found.problem is None or found.kind not in _KINDS:
            return False
        if self._first is None:
            self._first = found
            return True
        self._count += 1
        if not self._different and self._first.problem and not _alike(found.problem, self._first.problem):
            self._different = f"; line {found.line}: {found.problem.message}"
        if len(self._others) < _SHOWN and found.line not in (None, *self._others[-1:]):
            self._others.append(found.line or 0)
        return True

    def close(self) -> Iterator[Input]:
        """Yield an input with the problem of the first line and the numbers of the others, if any, and forget them."""
        if self._first is None or self._first.problem is None:
            return
        first = self._first.problem
        message = first.message
        if self._count:
            numbers = ", ".join(map(str, self._others)) + (", …" if self._count > len(self._others) else "")
            lines = "1 more line" if self._count == 1 else f"{self._count} more lines"
            message += f"; {lines} cannot be read, either: {numbers}{self._different}"
        given, self._first, self._others, self._count, self._different = self._first, None, [], 0, ""
        yield given._replace(problem=InvalidDocument(message, first.file, first.line, first.pointer))


def _alike(one: InvalidDocument, other: InvalidDocument) -> bool:
    """Return whether two problems are of one kind, whatever they name."""
    return one.message[:_KIND] == other.message[:_KIND]
