"""Results as they are kept in `reports/results/`: written, read, checked against their schema, and put together."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from conformance.documents import read_json
from conformance.documents.pointer import render
from conformance.errors import InvalidDocument, Unusable
from conformance.results import Results
from conformance.schemas import validator

ADAPTERS: Final = "adapters"
CALIBRATION: Final = "calibration"


def read(path: Path) -> Results:
    """Return the results in a file; raises InvalidDocument with the pointer where it holds none."""
    value: Any = read_json(path)
    for error in validator("files/results").errors(value):
        raise InvalidDocument(error.message, str(path), None, render(error.place))
    return Results.from_json(value)


def path(folder: Path, results: Results) -> Path:
    """Return where results stand in a folder: under their name, with dots between its parts."""
    return folder / f"{results.name.replace('/', '.').replace(':', '.')}.json"


def write(folder: Path, results: Results) -> Path:
    """Write results into a folder and return the path; the same results, the same bytes, one outcome a line."""
    folder.mkdir(parents=True, exist_ok=True)
    target = path(folder, results)
    target.write_text("".join(_lines(results.to_json())), "utf-8")
    return target


def read_all(paths: Iterable[Path]) -> tuple[Results, ...]:
    """Return the results in files, and in the files of folders, in the order of their names; raises as `files` does."""
    return tuple([results for _, results in files(paths)])


def files(paths: Iterable[Path]) -> tuple[tuple[Path, Results], ...]:
    """Return the results in files, and in the files of folders, each with its file, in the order of their names.

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
            many.append((file, results))
    if not many:
        raise Unusable("no results there; `pytest --provider=P --results DIR` and `conformance adapter run` write some")
    return tuple(sorted(many, key=lambda each: each[1].name))


def _files(path: Path) -> Iterator[Path]:
    """Yield a file, or the results in a folder: its own, and those of adapters below."""
    if not path.is_dir():
        yield path
        return
    yield from sorted(path.glob("*.json"))
    yield from sorted((path / ADAPTERS).glob("*.json"))


def _lines(shown: Mapping[str, Any]) -> Iterator[str]:
    """Yield a JSON document with a line for each case, each outcome and each rule that passed: its diff is read."""
    for key, value in shown.items():
        first = key == next(iter(shown))
        yield ("{" if first else ",") + f"\n{_text(key)}: "
        if key == "cases":
            yield "[" + ",".join([_case(case) for case in value]) + "\n]"
        elif key == "passed":
            yield "{" + ",".join([f"\n {_text(rule)}: {_text(row)}" for rule, row in value.items()]) + "\n}"
        else:
            yield _text(value)
    yield "\n}\n"


def _case(case: Mapping[str, Any]) -> str:
    listed = ("outcomes", "probes")
    head = _text({key: value for key, value in case.items() if key not in listed})[:-1]
    lists = [f"{_text(key)}: [" + ",".join([f"\n  {_text(each)}" for each in case[key]]) + "]" for key in listed]
    return f"\n {head}, {', '.join(lists)}}}"


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()
