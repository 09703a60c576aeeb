"""Files of results, as in `reports/results/`: written, read and validated."""

from collections.abc import Iterable, Iterator, Mapping, MutableSequence
from pathlib import Path
from typing import Any, Final

import orjson

from conformance import artifacts, profiles
from conformance.documents import parse_json, read_json
from conformance.documents.pointer import render
from conformance.errors import InvalidDocument, Unusable
from conformance.resources import unpacked
from conformance.results.record import COMPLETE, DIGEST, content_digest, sealed
from conformance.results.runs import Results
from conformance.schemas import validator
from conformance.secrets import Scrubber

ADAPTERS: Final = "adapters"
CALIBRATION: Final = "calibration"
RECORDED: Final = "recorded"
"""The folders below that of the results: of adapters, of the calibration, and of public recordings."""


PARTIAL: Final = "--partial"
"""The option with which a command accepts results that do not prove a whole run."""


def read(path: Path, accepted: MutableSequence[str] | None = None) -> Results:
    """Return the results in a file.

    Raises InvalidDocument with a pointer if it is not valid, and Unusable, which says what to do, if it does not prove
    a whole run: the run did not end or was filtered, the file was edited, or it is of another provider than its name
    says. With `accepted`, such reasons are added to it instead; results without cases are never accepted.
    """
    value = _valid(path)
    results = Results.from_json(value)
    if not results.cases:
        raise Unusable(f"{path} has no cases: {results.run.ended or 'nothing was run'}; run the tests again")
    reasons = [*_reasons(path, value, results)]
    if accepted is None and reasons:
        raise Unusable(f"{path} {'; it '.join(reasons)}; run all tests again, or accept it with {PARTIAL}")
    if accepted is not None and reasons:
        accepted.append(f"{path} {'; it '.join(reasons)}")
    return results


def _valid(path: Path) -> Any:
    """Return the JSON of a file of results; raises InvalidDocument."""
    value: Any = read_json(path)
    if isinstance(value, dict) and "format" not in value:
        message = (
            'expected the key "format": these are no results, or an earlier version wrote them; run the tests again'
        )
        raise InvalidDocument(message, str(path), None, "")
    for error in validator("files/results").errors(value):
        raise InvalidDocument(error.message, str(path), None, render(error.place))
    cases = len(value["cases"])
    for rule, row in value.get("passed", {}).items():
        if len(row["judged"]) != cases:
            message = f"expected a number for each of the {cases} cases, got {len(row['judged'])}"
            raise InvalidDocument(message, str(path), None, render(("passed", rule, "judged")))
    return value


def damage(path: Path) -> tuple[str, ...]:
    """Return why a file does not hold what a run wrote at its end, whatever was selected; raises as `read` does."""
    value = _valid(path)
    return tuple(_damage(value, Results.from_json(value)))


def _damage(value: Mapping[str, Any], results: Results) -> Iterator[str]:
    if results.run.ended or not value[COMPLETE]:
        yield f"is incomplete: {results.run.ended or 'the run did not come to its end'}"
    if value[DIGEST] != content_digest(value):
        yield "was edited: its content does not have the digest that it names"
    # What a run says of its evidence in two places; an editor of one of them may know how to make a digest.
    said, kinds = value["run"]["evidence"], {case.evidence.value for case in results.cases}
    if set(said) != kinds:
        yield f"was edited: its run has {_named(said)} evidence, and its cases have {_named(kinds)}"


def _named(kinds: Iterable[str]) -> str:
    return " and ".join(sorted(kinds)) or "no"


def _reasons(path: Path, value: Mapping[str, Any], results: Results) -> Iterator[str]:
    """Yield why results do not prove a whole run, each as what the file `is` or `has`."""
    selection = results.run.selection
    yield from _damage(value, results)
    if selection is not None and not selection.is_whole:
        yield f"is of a part of the tests: {selection}"
    elif selection is not None and selection.cases != len(results.cases):
        yield f"has {len(results.cases)} of the {selection.cases} cases that were run"
    named = path.stem
    if named != _stem(results) and profiles.has(named):
        yield f"is of {results.name}, and not of {named}, as its name says"


def read_shipped(reports: Path) -> Mapping[str, Results]:
    """Return the results of this project, of a checkout or an installed package, by their paths in a checkout."""
    root = unpacked(reports / "results")
    paths = sorted([*_files(root), *(root / RECORDED).glob("*.json")]) if root.is_dir() else []
    if not paths:
        raise Unusable(f"there are no results in {root}; `conformance provider replay --all` writes them")
    return {path.relative_to(root).as_posix(): read(path) for path in paths}


def read_about(paths: Iterable[Path], named: str) -> tuple[Results, ...]:
    """Return the results of an adapter or a gateway, NAME or NAME@VERSION, in files and folders; those of all if none.

    Results of a part of the tests are accepted. Raises InvalidDocument for a file that is not valid.
    """
    values = [_valid(file) for path in paths for file in _files(path)]
    own = [value for value in values if named in _names(value["subject"])]
    # Making results of what a file holds takes most of the time that reading it takes.
    return tuple([Results.from_json(value) for value in own or values])


def _names(subject: str) -> tuple[str, str]:
    """Return the names of a subject, such as NAME@VERSION or NAME@VERSION:BACK, with and without its version."""
    return subject.partition(":")[0], subject.partition("@")[0]


def path(folder: Path, results: Results, scrubber: Scrubber | None = None) -> Path:
    """Return the path of results in a folder: their name, with dots between its parts."""
    # The name of a model comes from the wire.
    return folder / f"{artifacts.file_name((scrubber or Scrubber()).name(_stem(results)))}.json"


def _stem(results: Results) -> str:
    return results.name.replace("/", ".").replace(":", ".")


def write(folder: Path, results: Results, scrubber: Scrubber | None = None) -> Path:
    """Write results into a folder and return the path; one outcome per line, the same bytes for the same results.

    `scrubber` is that of a live run, whose results only their owner can read. Raises Unscrubbable, and writes nothing,
    if a secret cannot be removed from them.
    """
    secrets = scrubber or Scrubber()
    target = path(folder, results, secrets)
    text = "".join(_lines(results.to_json()))
    # Secrets are removed from the whole text, because one may be in any value, or in a name; then what is left gets its
    # digest.
    if (clean := secrets.text(text)) != text:
        value: Any = parse_json(clean, str(target))
        text = "".join(_lines(sealed(value)))
    artifacts.write(target, text, private=scrubber is not None)
    return target


def read_all(paths: Iterable[Path], accepted: MutableSequence[str] | None = None) -> tuple[Results, ...]:
    """Return the results in files and folders, ordered by name; raises as `read_with_paths` does."""
    return tuple([results for _, results in read_with_paths(paths, accepted)])


def read_with_paths(
    paths: Iterable[Path], accepted: MutableSequence[str] | None = None
) -> tuple[tuple[Path, Results], ...]:
    """Return the results in files and folders, each with its file, ordered by name.

    Raises Unusable if there are none, or if two files have results of the same subject; and as `read` does, which
    explains `accepted`.
    """
    found: dict[str, Path] = {}
    many = []
    for path in paths:
        for file in _files(path):
            results = read(file, accepted)
            if results.name in found:
                raise Unusable(
                    f"{found[results.name]} and {file} both have results of {results.name}; pass only one of them"
                )
            found[results.name] = file
            many.append((file, results))
    if not many:
        raise Unusable("no results found; `pytest --provider=P --results DIR` and `conformance adapter run` write them")
    return tuple(sorted(many, key=lambda each: each[1].name))


def _files(path: Path) -> Iterator[Path]:
    """Yield a file, or the files of results in a folder and in its folder of adapters."""
    if not path.is_dir():
        yield path
        return
    yield from sorted(path.glob("*.json"))
    yield from sorted((path / ADAPTERS).glob("*.json"))


def _lines(shown: Mapping[str, Any]) -> Iterator[str]:
    """Yield a JSON document with one line per case, outcome and passed rule, so that its diffs are readable."""
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
    listed = [key for key in ("outcomes", "probes", "requests") if key in case]
    head = _text({key: value for key, value in case.items() if key not in listed})[:-1]
    lists = [f"{_text(key)}: [" + ",".join([f"\n  {_text(each)}" for each in case[key]]) + "]" for key in listed]
    return f"\n {head}, {', '.join(lists)}}}"


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()
