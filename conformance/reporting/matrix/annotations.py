"""The findings of a check or of the gate, one annotation each: the model behind the reports that programs read."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.baseline import Entry
from conformance.documents import read_json
from conformance.documents.json_scan import lines_of
from conformance.gate import PROBES, CheckResult, GateResult, check_results
from conformance.reporting.text import Paint, line_of
from conformance.results import Level, Status
from conformance.results.runs import Results

READABLE: Final = "input/can-be-read"
TITLES: Final[Mapping[str, str]] = {
    READABLE: "An input can be read.",
    "gate/case-judges-something": "A case that should be played checks something.",
    "gate/expected-failure-fails": "An expected failure still fails.",
    "gate/entry-matches": "An expected-failures entry matches a check that was run.",
    "gate/entry-in-force": "An expected-failures entry has not expired.",
    "gate/run-succeeds": "A run as a whole tests what its claims promise.",
    "gate/entry-within-max": "An expected-failures entry covers no more failures than its max.",
    "gate/baseline-narrow": "The expected failures match at most a tenth of the checks of a run.",
}
"""The checks that are not rules: the id of each, and what it requires."""

ENTRIES: Final = "expected failures"
"""The suite of the annotations about the baseline itself."""


class AnnotationKind(StrEnum):
    """What an annotation reports: `noted` fails nothing, `expected` is a failure that a baseline entry covers."""

    PASSED = "passed"
    NOTED = "noted"
    FAILED = "failed"
    EXPECTED = "expected"
    ERRORED = "errored"


class Location(NamedTuple):
    """A file, and the line in it (1-based), if known."""

    path: str
    line: int | None = None


NOWHERE: Final = Location("")


@dataclass(frozen=True, slots=True)
class Annotation:
    """The result of one check in one suite; a suite is a case or an input.

    `check` is a rule's id, `probes/<name>` or a key of `TITLES`. `at` is a JSON Pointer into the conversation.
    `reason` is that of the baseline entry that covers a failure, with its link, or the claim that describes a
    departure. `side`: who is responsible, `client` or `provider`; empty for checks that are not about the wire. `rank`:
    1 if it stops the loop of an agent, 2 if it loses content, 3 if it is form, 0 if unknown. `protocol`: the wire of a
    checked input. `fixes`: as the JSON object of a finding has them.
    """

    suite: str
    check: str
    kind: AnnotationKind
    level: Level = Level.MUST
    message: str = ""
    at: str = ""
    location: Location = NOWHERE
    reason: str = ""
    side: str = ""
    rank: int = 0
    protocol: str = ""
    fixes: Sequence[Mapping[str, Any]] = ()

    @property
    def text(self) -> str:
        """Where the check was made, and what it found, in words."""
        at = f" at {self.at}" if self.at else ""
        return f"{self.suite}{at}: {self.message}"


def of_input(report: Mapping[str, Any], _paint: Paint) -> tuple[Annotation, ...]:
    """Return the annotations of a checked input, which the formats that show annotations render."""
    return tuple(_of_findings(report))


def inputs_as(
    render: Callable[[Iterable[Annotation]], Iterator[str]],
) -> Callable[[Iterable[tuple[Annotation, ...]], Callable[[], Mapping[str, Any]], Paint], Iterator[str]]:
    """Return what renders the parts of checked inputs as `render` does all their annotations."""
    return lambda parts, _summary, _paint: render(chain.from_iterable(parts))


def _of_findings(given: Mapping[str, Any]) -> Iterator[Annotation]:
    """Yield the annotations of a checked input, one per finding; rules that did not apply have none.

    A MAY is only noted; a MUST or a SHOULD has failed, as in the exit code.
    """
    suite = given["path"] if given["line"] is None else f"{given['path']}:{given['line']}"
    if "error" in given:
        location = Location(given["path"], given["line"])
        yield Annotation(suite, READABLE, AnnotationKind.ERRORED, message=given["error"], location=location)
    for outcome in given["outcomes"]:
        yield from _of_outcome(suite, given, outcome)


def _of_outcome(suite: str, given: Mapping[str, Any], outcome: Mapping[str, Any]) -> Iterator[Annotation]:
    rule, status, wire = outcome["rule"], outcome["status"], given.get("protocol") or ""
    for finding in outcome["findings"]:
        level = Level(finding["level"])
        kind = AnnotationKind.NOTED if level is Level.MAY else AnnotationKind.FAILED
        contested = f" (sources disagree: {finding['contested']})" if "contested" in finding else ""
        about = level, finding["message"] + contested, finding["at"], _location(given, finding)
        yield Annotation(
            suite,
            rule,
            kind,
            *about,
            side=finding.get("side", ""),
            rank=finding.get("rank", 0),
            protocol=wire,
            fixes=finding.get("fixes", ()),
        )
    for known in outcome.get("known", ()):
        about = Level(known["level"]), known["message"], known["at"], _location(given, known)
        reason = f"known of {given['provider']}: {known['known']}"
        yield Annotation(suite, rule, AnnotationKind.EXPECTED, *about, reason, known["side"], known["rank"], wire)
    if status in (Status.PASSED, Status.ERRORED):
        reason = outcome.get("reason", "")
        location = _location(given, {"at": ""})
        yield Annotation(
            suite,
            rule,
            AnnotationKind(status),
            Level(outcome["level"]),
            reason,
            location=location,
            protocol=given.get("protocol") or "",
        )


def _location(given: Mapping[str, Any], finding: Mapping[str, Any]) -> Location:
    """Return the location of a finding: its own line, or the line of its exchange, or that of its input."""
    return Location(given["path"], finding.get("line", line_of(given, finding["at"])))


def of_gate(
    gate: GateResult, many: Sequence[Results], locations: Mapping[str, Location], baseline: str
) -> Iterator[Annotation]:
    """Yield the annotations of all check results, then those of the baseline, a file with that path.

    `locations` are those of check results and cases, by their full names.
    """
    entries = dict(gate.expected)
    unexpected, errored, unchecked = set(gate.unexpected), set(gate.errored), dict(gate.unchecked)
    for results in many:
        for case in results.cases:
            name = f"{results.name}/{case.name}"
            if name in unchecked:
                check, note = "gate/case-judges-something", unchecked[name]
                yield Annotation(name, check, AnnotationKind.FAILED, message=note, location=locations[name])
        for result in check_results(results):
            kind = _kind(result, unexpected, errored, entries)
            message = result.message or ("" if kind is AnnotationKind.PASSED else result.status.value)
            yield Annotation(
                f"{result.subject}/{result.case}",
                result.check,
                kind,
                # An untested check that was promised fails the gate, whatever the level of its rule.
                Level.MUST if result.is_failure else result.level,
                message,
                result.at,
                locations[result.names[0]],
                _because(entries[result]) if result in entries else "",
                result.side,
            )
    for subject, problem in gate.problems:
        path = next(place.path for name, place in locations.items() if name.startswith(f"{subject}/"))
        at = Location(path)
        yield Annotation(subject, "gate/run-succeeds", AnnotationKind.FAILED, message=problem, location=at)
    stale = "stale entry: all checks that it matches pass; remove it"
    yield from _of_entries("gate/expected-failure-fails", stale, gate.stale, baseline)
    yield from _of_entries("gate/entry-matches", "it matches no check", gate.unmatched, baseline)
    yield from _of_entries("gate/entry-in-force", "it has expired", gate.expired, baseline)
    exceeded = [entry for entry, _ in gate.exceeded]
    yield from _of_entries("gate/entry-within-max", "it covers more failures than its max", exceeded, baseline)
    for subject, matched, checks in gate.wide:
        message = f"{subject}: entries match {matched} of {checks} checks, more than a tenth"
        location = Location(baseline)
        yield Annotation(ENTRIES, "gate/baseline-narrow", AnnotationKind.FAILED, Level.MUST, message, location=location)


def _kind(
    result: CheckResult, unexpected: set[CheckResult], errored: set[CheckResult], entries: Mapping[CheckResult, Entry]
) -> AnnotationKind:
    if result in errored:
        return AnnotationKind.ERRORED
    if result in unexpected:
        return AnnotationKind.FAILED
    if result in entries:
        return AnnotationKind.EXPECTED
    return AnnotationKind.PASSED if result.status is Status.PASSED else AnnotationKind.NOTED


def _because(entry: Entry) -> str:
    return f"{entry.reason} {entry.link}"


def _of_entries(check: str, problem: str, entries: Sequence[Entry], baseline: str) -> Iterator[Annotation]:
    for entry in entries:
        message = f"{entry.match}: {problem} ({entry.reason})"
        location = Location(baseline, entry.line)
        yield Annotation(ENTRIES, check, AnnotationKind.FAILED, Level.MUST, message, location=location)


def locations(files: Iterable[tuple[Path, Results]]) -> dict[str, Location]:
    """Return the locations of check results and cases in files of results, by their full names.

    What passed may be stored by rule instead of by case; its location is then that of its case.
    """
    found: dict[str, Location] = {}
    for path, results in files:
        value: Any = read_json(path)
        pointers = dict(_pointers(results.name, value["cases"]))
        lines = lines_of(path.read_text("utf-8-sig"), pointers.values())
        found |= {name: Location(str(path), lines[pointer]) for name, pointer in pointers.items()}
        for result in check_results(results):
            found.setdefault(result.names[0], found[f"{result.subject}/{result.case}"])
    return found


def _pointers(subject: str, cases: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for number, case in enumerate(cases):
        name = f"{subject}/{case['scenario']}.{case['variant']}"
        yield name, f"/cases/{number}"
        for position, outcome in enumerate(case["outcomes"]):
            yield f"{name}/{outcome['rule']}", f"/cases/{number}/outcomes/{position}"
        for position, probe in enumerate(case["probes"]):
            yield f"{name}/{PROBES}/{probe['name']}", f"/cases/{number}/probes/{position}"
