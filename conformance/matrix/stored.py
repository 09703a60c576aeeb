"""Results as they are kept in `reports/results/`: read, checked against their schema, and put together."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from conformance import baseline, profiles
from conformance.documents import read_json
from conformance.errors import InvalidDocument, Unusable
from conformance.matrix.table import Observed
from conformance.resources import folder
from conformance.results import Results
from conformance.schemas import validator
from conformance.wire.pointer import render

ADAPTERS: Final = "adapters"
CALIBRATION: Final = "calibration"


def read(path: Path) -> Results:
    """Return the results in a file; raises InvalidDocument with the pointer where it holds none."""
    value: Any = read_json(path)
    for error in validator("files/results").errors(value):
        raise InvalidDocument(error.message, str(path), None, render(error.place))
    return Results.from_json(value)


def read_all(paths: Iterable[Path]) -> tuple[Results, ...]:
    """Return the results in files, and in the files of folders, in the order of their names.

    Raises Unusable where there are none, or where two files speak of one subject.
    """
    found: dict[str, Path] = {}
    many = []
    for path in paths:
        for file in _files(path):
            results = read(file)
            if results.name in found:
                raise Unusable(
                    f"{found[results.name]} and {file} both hold results of {results.name}; give one of them"
                )
            found[results.name] = file
            many.append(results)
    if not many:
        raise Unusable("no results there; `pytest --provider=P --results DIR` and `conformance adapter run` write some")
    return tuple(sorted(many, key=lambda each: each.name))


def observed(reports: Path | None = None) -> Observed:
    """Return everything in a folder of reports, by default the project's own: results, calibration and baseline."""
    root = folder("reports") if reports is None else reports
    kept = root / "results"
    calibration: dict[str, Any] = {path.stem: read_json(path) for path in sorted((kept / CALIBRATION).glob("*.json"))}
    results = read_all([kept])
    named = sorted({each.profile for each in results} | calibration.keys())
    return Observed(
        results,
        {name: profiles.load(name) for name in named},
        calibration,
        baseline.load(root / "expected-failures.yaml"),
    )


def _files(path: Path) -> Iterator[Path]:
    """Yield a file, or the results in a folder: its own, and those of adapters below."""
    if not path.is_dir():
        yield path
        return
    yield from sorted(path.glob("*.json"))
    yield from sorted((path / ADAPTERS).glob("*.json"))
