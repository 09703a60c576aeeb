"""The gate: results held against the baseline, so that a green run says what it seems to say.

It fails on what breaks unexpectedly, and as much on an excuse that is none any more: an expected failure that passes,
an entry that matches nothing, one past its end, and a scenario that judged nothing. What errored is ours to mend, and
no entry excuses it. Everything here is pure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.baseline import Entry, cover
from conformance.results import NOT_PLAYED, Case, Level, Outcome, Probed, Results, Status
from conformance.rule_ids import all_ids

PROBES = "probes"
"""The part of a name before that of a probe, where rules have their family."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that was put to the test in one case: a rule or a probe, and what became of it.

    `fact` is a rule's id or `probes/<name>`. `at` is a JSON Pointer into the case's conversation, empty where no part
    is to blame.
    """

    subject: str
    case: str
    fact: str
    status: Status
    level: Level
    message: str = ""
    at: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that an expected failure may match: with the case, and without it for every case."""
        return names(self.subject, self.case, self.fact)

    @property
    def is_failure(self) -> bool:
        """Say whether this ends a gate: what breaks a MUST or was promised and not tested. Errors stand apart."""
        return self.status is Status.UNTESTED or (self.status is Status.FAILED and self.level is Level.MUST)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a gate says of results.

    `unexpected`: failures that no entry covers. `expected`: each with the entry that covers it. `errored`: what broke
    in this project. `mended`: entries whose facts were put to the test and all passed. `unmatched`: entries that fit
    nothing that was put to the test. `ended`: entries past their end. `idle`: cases that were to be played and judged
    nothing, as `<subject>/<case>`, each with its note.
    """

    unexpected: tuple[Fact, ...] = ()
    expected: tuple[tuple[Fact, Entry], ...] = ()
    errored: tuple[Fact, ...] = ()
    mended: tuple[Entry, ...] = ()
    unmatched: tuple[Entry, ...] = ()
    ended: tuple[Entry, ...] = ()
    idle: tuple[tuple[str, str], ...] = ()

    @property
    def passes(self) -> bool:
        """Say whether the gate is open."""
        return not any((self.unexpected, self.errored, self.mended, self.unmatched, self.ended, self.idle))


def names(subject: str, case: str, fact: str) -> tuple[str, ...]:
    """Return the names of a fact: with the case, and without it; those with former ids of a rule come last."""
    return tuple([name for each in all_ids(fact) for name in (f"{subject}/{case}/{each}", f"{subject}/{each}")])


def facts(results: Results) -> tuple[Fact, ...]:
    """Return everything that was put to the test, in the order of the cases; what did not apply is left out."""
    return tuple([fact for case in results.cases for fact in _of_case(results.name, case)])


def judge(many: Sequence[Results], entries: Sequence[Entry], today: str = "") -> Judgement:
    """Hold results against the entries of a baseline that are in force on a day (ISO 8601; empty: all are)."""
    every = [fact for results in many for fact in facts(results)]
    covered = cover([fact for fact in every if fact.is_failure], entries, today)
    tested = {entry.match for entry in covered.stale if any(entry.covers(fact.names) for fact in every)}
    return Judgement(
        unexpected=covered.unexpected,
        expected=covered.expected,
        errored=tuple([fact for fact in every if fact.status is Status.ERRORED]),
        mended=tuple([entry for entry in covered.stale if entry.match in tested]),
        unmatched=tuple([entry for entry in covered.stale if entry.match not in tested]),
        ended=covered.ended,
        idle=tuple([(f"{each.name}/{case.name}", case.note) for each in many for case in each.cases if _is_idle(case)]),
    )


def _of_case(subject: str, case: Case) -> Iterator[Fact]:
    for outcome in case.outcomes:
        if outcome.status is not Status.NOT_APPLICABLE:
            yield _of_rule(subject, case, outcome)
    for probe in case.probes:
        if probe.status is not Status.NOT_APPLICABLE:
            yield _of_probe(subject, case, probe)


def _of_rule(subject: str, case: Case, outcome: Outcome) -> Fact:
    first = outcome.findings[0] if outcome.findings else None
    message, at = (first.message, first.at) if first else (outcome.reason, "")
    return Fact(subject, case.name, outcome.rule, outcome.status, outcome.level, message, at)


def _of_probe(subject: str, case: Case, probe: Probed) -> Fact:
    message = f"expected {probe.expected or 'to get there'}, observed {probe.observed}"
    return Fact(subject, case.name, f"{PROBES}/{probe.name}", probe.status, Level.MUST, message)


def _is_idle(case: Case) -> bool:
    """Say whether a case ran and judged nothing; one that the claims rule out was never to be played."""
    return not case.outcomes and not case.note.startswith(NOT_PLAYED)
