"""What judging and the gate say, one remark a fact: the model behind the reports that other programs read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.baseline import Entry
from conformance.documents import read_json
from conformance.documents.json_scan import lines_of
from conformance.gate import PROBES, Fact, Judgement, facts
from conformance.results import Level, Results, Status

READABLE: Final = "input/can-be-read"
TITLES: Final[Mapping[str, str]] = {
    READABLE: "An input can be read.",
    "gate/case-judges-something": "A case that is to be played judges something.",
    "gate/expected-failure-fails": "What is expected to fail has not been mended.",
    "gate/entry-matches": "An expected failure matches something that was put to the test.",
    "gate/entry-in-force": "An expected failure is not past its end.",
}
"""What is found beside rules: the id of each, and the fact that does not hold where it is remarked upon."""

ENTRIES: Final = "expected failures"
"""The suite of what is remarked upon the baseline itself."""


class Kind(StrEnum):
    """What a remark says: `noted` is a departure that fails nothing, `expected` a failure that an entry excuses."""

    PASSED = "passed"
    NOTED = "noted"
    FAILED = "failed"
    EXPECTED = "expected"
    ERRORED = "errored"


class Place(NamedTuple):
    """A file, and the line (1-based) in it where that is known."""

    path: str
    line: int | None = None


NOWHERE: Final = Place("")


@dataclass(frozen=True, slots=True)
class Remark:
    """What is said of one fact in one suite, which is a case or an input.

    `fact` is a rule's id, `probes/<name>` or one of `TITLES`. `at` is a JSON Pointer into the conversation. `place`:
    where to look. `excuse`: the reason of the entry that covers it, and its link.
    """

    suite: str
    fact: str
    kind: Kind
    level: Level = Level.MUST
    message: str = ""
    at: str = ""
    place: Place = NOWHERE
    excuse: str = ""


def of_inputs(inputs: Iterable[Mapping[str, Any]]) -> Iterator[Remark]:
    """Yield the remarks on judged inputs, one a finding; what did not apply has none.

    A MAY is only noted; a MUST and a SHOULD have failed, as the exit code has it.
    """
    for each in inputs:
        suite = _suite(each)
        if "error" in each:
            yield Remark(suite, READABLE, Kind.ERRORED, message=each["error"], place=Place(each["path"], each["line"]))
        for outcome in each["outcomes"]:
            yield from _of_outcome(suite, each, outcome)


def _of_outcome(suite: str, given: Mapping[str, Any], outcome: Mapping[str, Any]) -> Iterator[Remark]:
    rule, status = outcome["rule"], outcome["status"]
    for finding in outcome["findings"]:
        level = Level(finding["level"])
        kind = Kind.NOTED if level is Level.MAY else Kind.FAILED
        yield Remark(suite, rule, kind, level, finding["message"], finding["at"], _place(given, finding))
    if status in (Status.PASSED, Status.ERRORED):
        reason = outcome.get("reason", "")
        yield Remark(suite, rule, Kind(status), Level(outcome["level"]), reason, place=_place(given, {"at": ""}))


def _suite(given: Mapping[str, Any]) -> str:
    return given["path"] if given["line"] is None else f"{given['path']}:{given['line']}"


def _place(given: Mapping[str, Any], finding: Mapping[str, Any]) -> Place:
    """Return where a finding stands: on its own line, that of its exchange, or that of its input."""
    number, lines = finding["at"].split("/")[1:2], given.get("lines", ())
    line = given["line"]
    if number and number[0].isdecimal() and int(number[0]) < len(lines):
        line = lines[int(number[0])]
    return Place(given["path"], finding.get("line", line))


def of_judgement(
    judgement: Judgement, many: Sequence[Results], places: Mapping[str, Place], baseline: str
) -> Iterator[Remark]:
    """Yield the remarks on everything that was put to the test, and then on the baseline, a file of that path.

    `places` are those of facts and cases, by their full names.
    """
    excuses = dict(judgement.expected)
    unexpected, errored = set(judgement.unexpected), set(judgement.errored)
    idle = dict(judgement.idle)
    for results in many:
        for case in results.cases:
            name = f"{results.name}/{case.name}"
            if name in idle:
                yield Remark(name, "gate/case-judges-something", Kind.FAILED, message=idle[name], place=places[name])
        for fact in facts(results):
            kind = _kind(fact, unexpected, errored, excuses)
            excuse = _excuse(excuses[fact]) if fact in excuses else ""
            suite, place = f"{fact.subject}/{fact.case}", places[fact.names[0]]
            message = fact.message or ("" if kind is Kind.PASSED else fact.status.value)
            # What was promised and not tested fails whatever the level of its rule.
            level = Level.MUST if fact.is_failure else fact.level
            yield Remark(suite, fact.fact, kind, level, message, fact.at, place, excuse)
    yield from _of_entries("gate/expected-failure-fails", "it passes; take the entry away", judgement.mended, baseline)
    yield from _of_entries("gate/entry-matches", "it matches nothing", judgement.unmatched, baseline)
    yield from _of_entries("gate/entry-in-force", "it is past its end", judgement.ended, baseline)


def _kind(fact: Fact, unexpected: set[Fact], errored: set[Fact], excuses: Mapping[Fact, Entry]) -> Kind:
    if fact in errored:
        return Kind.ERRORED
    if fact in unexpected:
        return Kind.FAILED
    if fact in excuses:
        return Kind.EXPECTED
    return Kind.PASSED if fact.status is Status.PASSED else Kind.NOTED


def _excuse(entry: Entry) -> str:
    return f"{entry.reason} {entry.link}"


def _of_entries(fact: str, told: str, entries: Sequence[Entry], baseline: str) -> Iterator[Remark]:
    for entry in entries:
        message = f"{entry.match}: {told} ({entry.reason})"
        yield Remark(ENTRIES, fact, Kind.FAILED, Level.MUST, message, place=Place(baseline, entry.line))


def places(files: Iterable[tuple[Path, Results]]) -> dict[str, Place]:
    """Return where facts and cases stand in files of results, by their full names.

    What an adapter passed stands in columns; its place is that of its case.
    """
    found: dict[str, Place] = {}
    for path, results in files:
        value: Any = read_json(path)
        pointers = dict(_pointers(results.name, value["cases"]))
        lines = lines_of(path.read_text("utf-8-sig"), pointers.values())
        found |= {name: Place(str(path), lines[pointer]) for name, pointer in pointers.items()}
        for fact in facts(results):
            found.setdefault(fact.names[0], found[f"{fact.subject}/{fact.case}"])
    return found


def _pointers(subject: str, cases: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for number, case in enumerate(cases):
        name = f"{subject}/{case['scenario']}.{case['variant']}"
        yield name, f"/cases/{number}"
        for position, outcome in enumerate(case["outcomes"]):
            yield f"{name}/{outcome['rule']}", f"/cases/{number}/outcomes/{position}"
        for position, probe in enumerate(case["probes"]):
            yield f"{name}/{PROBES}/{probe['name']}", f"/cases/{number}/probes/{position}"
