"""On which line of a JSON text a value stands: for reports that lead to a place in a file."""

from collections.abc import Iterable, Mapping

from conformance.documents.bounds import BOUNDS
from conformance.documents.json_faults import Scan, pointer


def lines_of(text: str, pointers: Iterable[str]) -> Mapping[str, int]:
    """Return for each pointer the line (1-based) on which its value begins, or its nearest ancestor that is there.

    The text is one that `parse_json` has read. It costs about a hundred times what reading it did.
    """
    wanted = {pointer: list(_ancestry(pointer)) for pointer in pointers}
    scan = _Locating(text, {each for ancestry in wanted.values() for each in ancestry})
    scan.document()
    lines = _lines(text, scan.found)
    return {pointer: next(lines[each] for each in ancestry if each in lines) for pointer, ancestry in wanted.items()}


class _Locating(Scan):
    """A pass that notes the offsets at which wanted values begin."""

    def __init__(self, text: str, wanted: set[str]) -> None:
        super().__init__(text, BOUNDS.depth)
        self.wanted = wanted
        self.found: dict[str, int] = {}

    def value(self) -> bool:
        here = pointer(self.place)
        if here in self.wanted:
            self.next()
            self.found[here] = self.at
        return super().value()


def _ancestry(pointer: str) -> Iterable[str]:
    """Yield a pointer and those of the values around it, up to the root."""
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]
    yield ""


def _lines(text: str, offsets: Mapping[str, int]) -> dict[str, int]:
    lines: dict[str, int] = {}
    line, before = 1, 0
    for name, offset in sorted(offsets.items(), key=lambda each: each[1]):
        line += text.count("\n", before, offset)
        before = offset
        lines[name] = line
    return lines
