"""Which tests run a line: from the data of coverage.py, with the test as the context."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Final

from coverage import CoverageData

MANY: Final = 60
"""If so many tests of a file run a line, the file runs whole."""


class Choice:
    """The tests by the lines that they run."""

    def __init__(self, data: Path, root: Path) -> None:
        self._data = CoverageData(str(data))
        self._data.read()
        self._root = root
        self._lines: dict[str, dict[int, set[str]]] = {}
        self._sizes: Counter[str] = Counter()
        for context in self._data.measured_contexts():
            self._sizes[_test_of(context).partition("::")[0]] += 1

    def tests(self, file: str, line: int, end: int) -> list[str]:
        """Return the tests to run for a change of some lines, small files first; none if no test gets there."""
        lines = self._lines_of(file)
        found = set[str]().union(*[lines.get(number, set()) for number in range(line, end + 1)])
        if not found:  # What runs while the module is imported belongs to no test.
            found = set[str]().union(*lines.values())
        by_file: dict[str, list[str]] = defaultdict(list)
        for test in found:
            by_file[test.partition("::")[0]].append(test)
        chosen: list[str] = []
        for name in sorted(by_file, key=lambda each: (self._sizes[each], each)):
            chosen += [name] if len(by_file[name]) > MANY else sorted(by_file[name])
        return chosen

    def _lines_of(self, file: str) -> dict[int, set[str]]:
        if file not in self._lines:
            known = self._data.contexts_by_lineno(str(self._root / file))
            self._lines[file] = {
                line: {_test_of(context) for context in contexts if context} for line, contexts in known.items()
            }
        return self._lines[file]


def _test_of(context: str) -> str:
    """Return the id of the test of a context, which has the phase of the test behind it."""
    return context.rpartition("|")[0] or context
