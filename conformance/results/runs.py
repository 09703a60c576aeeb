"""The results of runs, as plain data: cases, their probes, and the claims that a run adds to those of a profile."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from conformance.results import (
    ENDED_BY_MODEL,
    INCONCLUSIVE,
    UNREADABLE,
    Evidence,
    Level,
    Outcome,
    Status,
)
from conformance.results.record import FORMAT, RunRecord, sealed


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result of one probe: a request with one deviation, whose answer the claims predict.

    `expected` and `observed` are in words: "accepted", or "refused with 400: …". If the profile claims no answer,
    `expected` is "unknown" and the probe is not applicable, whatever was observed.
    """

    name: str
    title: str
    rule: str
    status: Status
    expected: str
    observed: str

    @property
    def is_inconclusive(self) -> bool:
        """Return True if the endpoint was busy or failed when the probe was sent."""
        return self.observed.startswith(INCONCLUSIVE)

    def to_json(self) -> dict[str, Any]:
        """Return the probe result as the JSON object that reports contain."""
        return {
            "name": self.name,
            "title": self.title,
            "rule": self.rule,
            "status": self.status.value,
            "expected": self.expected,
            "observed": self.observed,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ProbeResult":
        """Return the probe result that `to_json` wrote."""
        return cls(**{**value, "status": Status(value["status"])})


@dataclass(frozen=True, slots=True)
class Runs:
    """How often a case was played, and with what results.

    `passed`: it ran to its end and nothing failed. `ended`: the model ended it early, as it may, by a call too few or
    too many. `inconclusive`: the endpoint was busy or failed. All other runs failed.
    """

    played: int
    passed: int
    ended: int
    inconclusive: int

    @property
    def conclusive(self) -> int:
        """Return the number of runs that were not inconclusive."""
        return self.played - self.inconclusive


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A whole request that a client sent: the index of its exchange in the session, the path of its URL, its body."""

    exchange: int
    path: str
    body: Any


@dataclass(frozen=True, slots=True)
class Case:
    """One scenario in one variant, played and checked; `note` says why it ended early or was not played.

    `runs` is set if it was played more than once. `observed` is what its replies showed of the core facts, in words.
    `requests` are those that show what an adapter breaks, if no smaller case does; without what changes from run to
    run.
    """

    scenario: str
    variant: str
    evidence: Evidence
    outcomes: tuple[Outcome, ...] = ()
    probes: tuple[ProbeResult, ...] = ()
    note: str = ""
    runs: Runs | None = None
    observed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    requests: tuple[SentRequest, ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the case and of its cassette."""
        return f"{self.scenario}.{self.variant}"

    @property
    def is_inconclusive(self) -> bool:
        """Return True if the case did not end because the endpoint was busy or failed."""
        return self.note.startswith(INCONCLUSIVE)

    @property
    def is_unreadable(self) -> bool:
        """Return True if the case could not be replayed."""
        return self.note.startswith(UNREADABLE)

    @property
    def is_ended_by_model(self) -> bool:
        """Return True if the model ended the case early, by a call too few or too many."""
        return self.note.startswith(ENDED_BY_MODEL)

    @property
    def is_played_through(self) -> bool:
        """Return True if at least one of several runs was played to the end."""
        return self.runs is not None and self.runs.ended < self.runs.conclusive

    def to_json(self) -> dict[str, Any]:
        """Return the case as the JSON object that results contain, without the rules that did not apply."""
        shown = [outcome.to_json() for outcome in self.outcomes if outcome.status is not Status.NOT_APPLICABLE]
        return {
            "scenario": self.scenario,
            "variant": self.variant,
            "evidence": self.evidence.value,
            "note": self.note,
            **({} if self.runs is None else {"runs": asdict(self.runs)}),
            **({"observed": {name: list(values) for name, values in self.observed.items()}} if self.observed else {}),
            "outcomes": shown,
            "probes": [probe.to_json() for probe in self.probes],
            **({"requests": [asdict(request) for request in self.requests]} if self.requests else {}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Case":
        """Return the case that `to_json` wrote."""
        return cls(
            value["scenario"],
            value["variant"],
            Evidence(value["evidence"]),
            tuple(Outcome.from_json(outcome) for outcome in value["outcomes"]),
            tuple(ProbeResult.from_json(probe) for probe in value["probes"]),
            value["note"],
            Runs(**value["runs"]) if "runs" in value else None,
            {name: tuple(values) for name, values in value.get("observed", {}).items()},
            tuple([SentRequest(**request) for request in value.get("requests", ())]),
        )


MINE: Final = "mine"
"""What the names of a user's own subjects carry in reports."""

_NOT_IN_NAMES: Final = re.compile(r"[^\w.-]+")
"""Characters that a model's name may have, but not a part of a subject's name or of a file name."""


@dataclass(frozen=True, slots=True)
class RunClaim:
    """A claim that a run adds to those of the profile.

    `by`: `user`, or `question` if the reply to a plain question at the start of the run showed it.
    """

    value: Any
    by: str


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was observed of one subject, played through the scenarios.

    `subject` is a provider (the name of its profile) or an adapter (`<name>@<version>`). For an adapter, `provider` is
    the one that it talked to. `versions` are those that the software under test reports. `further`: the model is not
    the provider's default model. `claims` are those of the run, by name. `mine`: a user's own results, which reports
    show beside those of this project; files do not have it. `run` is what the run did.
    """

    subject: str
    model: str
    cases: tuple[Case, ...]
    provider: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    further: bool = False
    claims: Mapping[str, RunClaim] = field(default_factory=dict)
    mine: bool = False
    run: RunRecord = field(default_factory=RunRecord)

    @property
    def name(self) -> str:
        """Return the name that reports use: `<subject>`, `<subject>:<model>` or `<adapter>/<provider>`."""
        subject = f"{self.subject} ({MINE})" if self.mine else self.subject
        if self.further:
            return f"{subject}:{_NOT_IN_NAMES.sub('-', self.model)}"
        return f"{subject}/{self.provider}" if self.provider else subject

    @property
    def profile(self) -> str:
        """Return the name of the profile that the subject was checked against."""
        return self.provider or self.subject

    @property
    def service(self) -> str:
        """Return the name of the provider that the subject was checked against, on whatever wire."""
        return self.profile.removesuffix(f".{self.run.protocol}")

    def to_json(self) -> dict[str, Any]:
        """Return the results as the JSON object of `reports/results/<subject>.json`, in a stable order and sealed."""
        ordered = sorted(self.cases, key=lambda case: case.name)
        shown: dict[str, Any] = {"format": FORMAT, "subject": self.subject, "model": self.model}
        if self.provider:
            shown["provider"] = self.provider
        if self.versions:
            shown["versions"] = dict(sorted(self.versions.items()))
        if self.further:
            shown["further"] = True
        if self.claims:
            shown["claims"] = {name: asdict(claim) for name, claim in sorted(self.claims.items())}
        kinds = [kind.value for kind in Evidence if any(case.evidence is kind for case in ordered)]
        shown["run"] = {"provider": self.service, "evidence": kinds, **self.run.to_json()}
        return sealed(shown | _in_columns(ordered))

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Results":
        """Return the results that `to_json` wrote."""
        cases = _out_of_columns([Case.from_json(case) for case in value["cases"]], value.get("passed", {}))
        return cls(
            value["subject"],
            value["model"],
            cases,
            value.get("provider", ""),
            value.get("versions", {}),
            value.get("further", False),
            {name: RunClaim(**claim) for name, claim in value.get("claims", {}).items()},
            run=RunRecord.from_json(value["run"]),
        )


def _in_columns(cases: Sequence[Case]) -> dict[str, Any]:
    """Return the cases without their passed outcomes, and those by rule: for each case, the number of checked elements.

    Most outcomes of a case are passes, and this form of them is small.
    """
    passed: dict[str, dict[str, Any]] = {}
    for column, case in enumerate(cases):
        for outcome in case.outcomes:
            if outcome.status is Status.PASSED:
                row = passed.setdefault(outcome.rule, {"level": outcome.level.value, "judged": [0] * len(cases)})
                row["judged"][column] = outcome.judged
    rest = [
        replace(case, outcomes=tuple([each for each in case.outcomes if each.status is not Status.PASSED]))
        for case in cases
    ]
    return {"cases": [case.to_json() for case in rest], "passed": dict(sorted(passed.items()))}


def _out_of_columns(cases: Sequence[Case], passed: Mapping[str, Mapping[str, Any]]) -> tuple[Case, ...]:
    """Return the cases with their passed outcomes, ordered by rule."""
    if not passed:
        return tuple(cases)
    found = [[*case.outcomes] for case in cases]
    for rule, row in passed.items():
        level, judged = Level(row["level"]), row["judged"]
        # Most cases have the same few counts: an outcome for each count of a rule, and not for each case.
        outcomes = {count: Outcome(rule, Status.PASSED, level, count) for count in {*judged} if count}
        for column, count in enumerate(judged):
            if count:
                found[column].append(outcomes[count])
    return tuple(
        [
            replace(case, outcomes=tuple(sorted(own, key=lambda outcome: outcome.rule)))
            for case, own in zip(cases, found, strict=True)
        ]
    )
