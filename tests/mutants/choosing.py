"""Which tests run a line: from the data of coverage.py, with the test as the context."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from coverage import CoverageData

from tests.mutants.changes import Change
from tests.mutants.places import Places

DATA: Final = "coverage"
SECONDS: Final = "seconds.json"
MANY: Final = 60
"""If so many tests of a file run a line, the file runs whole."""
MOST: Final = 16.0
"""How many seconds of tests a change gets. Nearly all of what is noticed at all is noticed in that time."""
FILE: Final = 0.3
"""About what it takes to import a file of tests, in seconds."""
BATCHES: Final = (2.0, 8.0, 32.0)
"""How long each run of pytest may take, in seconds of measured tests; later ones as long as the last of these."""


class Choice:
    """The tests by the lines that they run, from the folder that `measuring` filled."""

    def __init__(self, measured: Path, root: Path) -> None:
        self._data = CoverageData(str(measured / DATA))
        self._data.read()
        self._seconds: dict[str, float] = json.loads((measured / SECONDS).read_text("utf-8"))
        self._root = root
        self._lines: dict[str, dict[int, set[str]]] = {}
        self._places: dict[str, Places] = {}
        self._noticed = Counter[str]()

    def tests(self, change: Change) -> list[str]:
        """Return the tests to run for a change, those of cheap files and of files that noticed others first.

        A line that only the import of its module runs concerns every test of the module, after those of its uses; if no
        test runs a line of it, because the module only declares what others use, it concerns every test.
        """
        lines, places = self._lines_of(change.file), self._places[change.file]
        last = change.line + change.before.count("\n")
        near = [_union(lines, each) for each in places.lines(change.line, last)]
        found = next((tests for tests in near if tests), set[str]())
        rest = set[str]()
        if places.runs_at_import(change.line):
            rest = (_union(lines, set(lines)) or set(self._seconds)) - found
        return list(self._first(self._ordered(found) + self._ordered(rest)))

    def acts_at_import(self, change: Change) -> bool:
        """Return whether a change alters what runs once, when its module is imported."""
        self._lines_of(change.file)
        return self._places[change.file].runs_at_import(change.line)

    def noticed(self, test: str) -> None:
        """Note that a test noticed a change, so that its file runs earlier for the next ones."""
        self._noticed[_file_of(test)] += 1

    def batches(self, tests: Sequence[str]) -> Iterator[list[str]]:
        """Yield tests in batches for one run of pytest each, of which the first are the shortest."""
        bounds, batch, spent = [*BATCHES[::-1]], list[str](), 0.0
        for name, group in groupby(tests, key=_file_of):
            of_file = list(group)
            cost = self._cost(of_file)
            if batch and spent + cost > bounds[-1]:
                yield batch
                bounds, batch, spent = bounds[:-1] or bounds, [], 0.0
            batch += [name] if len(of_file) > MANY else of_file
            spent += cost
        if batch:
            yield batch

    def _ordered(self, tests: set[str]) -> list[str]:
        by_file: dict[str, list[str]] = defaultdict(list)
        for test in sorted(tests):
            by_file[_file_of(test)].append(test)
        costs = {name: self._cost(found) / (1 + self._noticed[name]) for name, found in by_file.items()}
        return [test for name in sorted(by_file, key=lambda each: (costs[each], each)) for test in by_file[name]]

    def _first(self, tests: Sequence[str]) -> Iterator[str]:
        """Yield the tests of the first files, until they take too long."""
        spent = 0.0
        for _, group in groupby(tests, key=_file_of):
            of_file = list(group)
            yield from of_file
            spent += self._cost(of_file)
            if spent > MOST:
                return

    def _cost(self, tests: Sequence[str]) -> float:
        """Return about how long tests of one file take, in seconds."""
        return FILE + sum(self._seconds.get(each, 0.0) for each in tests)

    def _lines_of(self, file: str) -> dict[int, set[str]]:
        if file not in self._lines:
            self._places[file] = Places((self._root / file).read_bytes())
            known = self._data.contexts_by_lineno(file)
            self._lines[file] = {
                line: {_test_of(context) for context in contexts if context} for line, contexts in known.items()
            }
        return self._lines[file]


def _test_of(context: str) -> str:
    """Return the id of the test of a context, which has the phase of the test behind it."""
    return context.rpartition("|")[0] or context


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def _union(lines: Mapping[int, set[str]], chosen: set[int]) -> set[str]:
    return set[str]().union(*[lines.get(number, set()) for number in chosen])
