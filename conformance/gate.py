"""The gate: compares results with the baseline of expected failures.

It fails on unexpected failures, on errors, on cases that checked nothing, on what is wrong with a run as a whole, on
entries of the baseline that are stale, match nothing, have expired or cover more than they may, and on a baseline that
matches more than a tenth of the checks of a run. No entry covers an error. Everything here is pure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.baseline import Entry, cover
from conformance.errors import Unusable
from conformance.results import NOT_PLAYED, Level, Outcome, Status
from conformance.results.runs import Case, ProbeResult, Results

PROBES = "probes"
"""The first part of a probe's name, where a rule's id has its family."""

_TENTH: Final = 10
"""A baseline may match one in so many checks of a run."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check, a rule or a probe, in one case.

    `check` is a rule's id or `probes/<name>`. `at` is a JSON Pointer into the case's conversation; it is empty if no
    element is to blame. `side`: who is responsible, `client` or `provider`; empty if nothing failed.
    """

    subject: str
    case: str
    check: str
    status: Status
    level: Level
    message: str = ""
    at: str = ""
    side: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the name that an expected failure may match."""
        return (name(self.subject, self.case, self.check),)

    @property
    def is_failure(self) -> bool:
        """Return True if this fails the gate: a MUST is broken, or a promised check was not tested. Excludes errors."""
        return self.status is Status.UNTESTED or (self.status is Status.FAILED and self.level is Level.MUST)

    @property
    def is_bad(self) -> bool:
        """Return True for a failure and for an error."""
        return self.is_failure or self.status is Status.ERRORED


@dataclass(frozen=True, slots=True)
class GateResult:
    """What the gate found.

    `unexpected`: failures that no entry covers. `expected`: failures, each with the entry that covers it. `errored`:
    bugs in this project. `stale`: entries that match checks which all pass. `unmatched`: entries that match no check.
    `expired`: entries past their `until` day. `unchecked`: cases that should have been played and checked nothing, as
    `<subject>/<case>`, each with its note. `exceeded`: entries that cover more failures than their `max`, each with the
    number. `wide`: runs of which entries match more than a tenth of the checks, failed or passed, each with how many of
    how many. `checks`: the number of all checks. `problems`: what is wrong with a run as a whole, after its subject.
    """

    unexpected: tuple[CheckResult, ...] = ()
    expected: tuple[tuple[CheckResult, Entry], ...] = ()
    errored: tuple[CheckResult, ...] = ()
    stale: tuple[Entry, ...] = ()
    unmatched: tuple[Entry, ...] = ()
    expired: tuple[Entry, ...] = ()
    unchecked: tuple[tuple[str, str], ...] = ()
    exceeded: tuple[tuple[Entry, int], ...] = ()
    wide: tuple[tuple[str, int, int], ...] = ()
    checks: int = 0
    problems: tuple[tuple[str, str], ...] = ()

    @property
    def passes(self) -> bool:
        """Return True if the gate is open."""
        entries = self.stale, self.unmatched, self.expired, self.exceeded, self.wide
        return not any((self.unexpected, self.errored, self.unchecked, self.problems, *entries))


def name(subject: str, case: str, check: str) -> str:
    """Return the name of a check."""
    return f"{subject}/{case}/{check}"


def check_subjects(many: Sequence[Results], entries: Sequence[Entry], file: str) -> None:
    """Raise Unusable if an entry of a baseline file is about another provider or adapter than the results."""
    for entry in entries:
        if not any(entry.concerns(results.name) for results in many):
            line = f":{entry.line}" if entry.line else ""
            named = ", ".join([results.name for results in many])
            raise Unusable(
                f"{file}{line}: the entry {entry.match} is about another provider or adapter, and the results are of "
                f"{named}; remove it, or keep a file for each"
            )


def check_results(results: Results) -> tuple[CheckResult, ...]:
    """Return the result of every check, in the order of the cases, without those that did not apply."""
    return tuple([result for case in results.cases for result in _of_case(results.name, case)])


def failures(results: Results) -> list[CheckResult]:
    """Return the results of the checks that fail the gate, in the order of the cases."""
    return [each for case in results.cases for each in _not_passed(results.name, case) if each.is_failure]


def broken_cases(results: Results) -> Iterator[str]:
    """Yield the names of the cases in which a MUST is broken or this project has a bug."""
    bad = (Status.FAILED, Status.ERRORED)
    for case in results.cases:
        if any(each.is_bad and each.status in bad for each in _not_passed(results.name, case)):
            yield case.name


def evaluate(
    many: Sequence[Results], entries: Sequence[Entry], today: str = "", *, allow_wide: bool = False
) -> GateResult:
    """Compare results with the entries of a baseline that are in force on a day (ISO 8601; empty: all are).

    `allow_wide`: the entries may match more than a tenth of the checks of a run.
    """
    by_run = [check_results(results) for results in many]
    every = [result for results in by_run for result in results]
    coverage = cover([result for result in every if result.is_failure], entries, today)
    in_force = [entry for entry in entries if not entry.has_expired(today)]
    tested = {entry.match for entry in coverage.unused if any(entry.covers(result.names) for result in every)}
    return GateResult(
        unexpected=coverage.unexpected,
        expected=coverage.expected,
        errored=tuple([result for result in every if result.status is Status.ERRORED]),
        stale=tuple([entry for entry in coverage.unused if entry.match in tested]),
        unmatched=tuple([entry for entry in coverage.unused if entry.match not in tested]),
        expired=coverage.expired,
        unchecked=tuple(
            [
                (f"{results.name}/{case.name}", case.note)
                for results in many
                for case in results.cases
                if _is_unchecked(case)
            ]
        ),
        exceeded=coverage.exceeded,
        wide=() if allow_wide else tuple(_wide(by_run, in_force)),
        checks=len(every),
        problems=tuple([(results.name, each) for results in many for each in results.run.problems]),
    )


def _wide(by_run: Sequence[Sequence[CheckResult]], entries: Sequence[Entry]) -> Iterator[tuple[str, int, int]]:
    """Yield the runs of which entries match too many checks: what passes today would be covered when it fails."""
    for results in by_run:
        matched = sum(any(entry.covers(result.names) for entry in entries) for result in results)
        if matched * _TENTH > len(results):
            yield results[0].subject, matched, len(results)


def _of_case(subject: str, case: Case) -> Iterator[CheckResult]:
    for outcome in case.outcomes:
        if outcome.status is not Status.NOT_APPLICABLE:
            yield _of_rule(subject, case, outcome)
    for probe in case.probes:
        if probe.status is not Status.NOT_APPLICABLE:
            yield _of_probe(subject, case, probe)


def _not_passed(subject: str, case: Case) -> Iterator[CheckResult]:
    """Yield the results of the checks of a case that did not pass: most do, and making a result of each takes time."""
    for outcome in case.outcomes:
        if outcome.status is not Status.PASSED and outcome.status is not Status.NOT_APPLICABLE:
            yield _of_rule(subject, case, outcome)
    for probe in case.probes:
        if probe.status is not Status.PASSED and probe.status is not Status.NOT_APPLICABLE:
            yield _of_probe(subject, case, probe)


def _of_rule(subject: str, case: Case, outcome: Outcome) -> CheckResult:
    first = outcome.findings[0] if outcome.findings else None
    message, at, side = (first.message, first.at, first.side) if first else (outcome.reason, "", "")
    return CheckResult(subject, case.name, outcome.rule, outcome.status, outcome.level, message, at, side)


def _of_probe(subject: str, case: Case, probe: ProbeResult) -> CheckResult:
    message = f"expected {probe.expected or 'the probe to be sent'}, observed {probe.observed}"
    side = "provider" if probe.status is Status.FAILED else ""
    return CheckResult(subject, case.name, f"{PROBES}/{probe.name}", probe.status, Level.MUST, message, side=side)


def _is_unchecked(case: Case) -> bool:
    """Return True if a case ran and checked nothing; one that the claims rule out was never to be played."""
    return not case.outcomes and not case.note.startswith(NOT_PLAYED)
