"""What judging yields: plain data that every report is a pure function of."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from conformance.rule_ids import current_id


class Level(StrEnum):
    """How much a rule demands, by the keyword of its source."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"

    @property
    def weight(self) -> int:
        """Return 2 for MUST, 1 for SHOULD, 0 for MAY."""
        return _WEIGHTS[self]


_WEIGHTS = {Level.MUST: 2, Level.SHOULD: 1, Level.MAY: 0}


class Status(StrEnum):
    """What became of a rule.

    `untested`: a scenario promised it and nothing was there to judge. `errored`: the rule itself broke, which is
    ours to mend and which no baseline excuses.
    """

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not applicable"
    UNTESTED = "untested"
    ERRORED = "errored"


class Evidence(StrEnum):
    """What an observation rests on; the kinds are never mixed.

    `live`: this run, a real endpoint. `recorded`: a cassette of a real endpoint. `engine`: a cassette of a real
    open-source server on a local machine. `simulated`: the project's own simulator playing a profile's claims.
    """

    LIVE = "live"
    RECORDED = "recorded"
    ENGINE = "engine"
    SIMULATED = "simulated"


NOT_PLAYED = "not played"
"""How the note begins of a case that was never to be played: what it needs is ruled out."""

INCONCLUSIVE = "inconclusive"
"""How the note begins of a case of which nothing is known: the endpoint was busy or broke."""

ENDED_BY_MODEL = "ended before turn"
"""How the note begins of a case that the model ended early, as it may: by a call too few or too many."""

NOTHING_TO_JUDGE = "nothing to judge"
"""How the reason begins of an outcome that is not applicable because its rule found no part to look at."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """How a provider answers a request that it does not accept: HTTP status and the members of its error object."""

    status: int
    message: str | None = None
    type: str | None = None
    code: str | int | None = None
    param: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One departure from a rule: where (a JSON Pointer into the conversation), and "expected …, got …".

    `refusal` is what the provider is claimed to answer to it, where a profile says so. `excerpt` is what stands there,
    as JSON that may be cut, and `asked` for a reply the last message that it answers; where they were kept.
    """

    at: str
    message: str
    level: Level
    refusal: Refusal | None = None
    excerpt: str = ""
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one rule says of one conversation.

    `judged` counts the parts that were looked at; a rule never passes with none. `reason` says why a rule did not
    apply, or how it broke.
    """

    rule: str
    status: Status
    level: Level
    judged: int = 0
    findings: tuple[Finding, ...] = ()
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as the JSON object that reports hold."""
        shown: dict[str, Any] = {
            "rule": self.rule,
            "status": self.status.value,
            "level": self.level.value,
            "judged": self.judged,
            "findings": [_finding_to_json(finding) for finding in self.findings],
        }
        return shown | ({"reason": self.reason} if self.reason else {})

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Outcome":
        """Return the outcome that `to_json` gave."""
        return cls(
            rule=current_id(value["rule"]),
            status=Status(value["status"]),
            level=Level(value["level"]),
            judged=value["judged"],
            findings=tuple(_finding_from_json(finding) for finding in value["findings"]),
            reason=value.get("reason", ""),
        )


def _finding_to_json(finding: Finding) -> dict[str, Any]:
    shown: dict[str, Any] = {"at": finding.at, "message": finding.message, "level": finding.level.value}
    if finding.refusal is not None:
        refusal = finding.refusal
        members = {name: getattr(refusal, name) for name in ("status", "message", "type", "code", "param")}
        shown["refusal"] = {name: member for name, member in members.items() if member is not None}
    quoted = {"excerpt": finding.excerpt, "asked": finding.asked}
    return shown | {name: text for name, text in quoted.items() if text}


def _finding_from_json(value: Mapping[str, Any]) -> Finding:
    refusal = value.get("refusal")
    return Finding(
        value["at"],
        value["message"],
        Level(value["level"]),
        Refusal(**refusal) if refusal else None,
        value.get("excerpt", ""),
        value.get("asked", ""),
    )


@dataclass(frozen=True, slots=True)
class Probed:
    """What became of one probe: a request with one deviation, predicted by the claims and then sent.

    `expected` and `observed` are in words: "accepted", or "refused with 400: …"; `expected` is "unknown" where the
    profile claims nothing, and then the probe is not applicable, whatever was observed.
    """

    name: str
    title: str
    rule: str
    status: Status
    expected: str
    observed: str

    def to_json(self) -> dict[str, Any]:
        """Return the probe as the JSON object that reports hold."""
        return {
            "name": self.name,
            "title": self.title,
            "rule": self.rule,
            "status": self.status.value,
            "expected": self.expected,
            "observed": self.observed,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Probed":
        """Return the probe that `to_json` gave."""
        return cls(**{**value, "rule": current_id(value["rule"]), "status": Status(value["status"])})


@dataclass(frozen=True, slots=True)
class Runs:
    """How often a case was played, and what came of it.

    `passed`: it ran to its end and nothing failed. `ended`: the model ended it early, as it may, by a call too few or
    too many. `inconclusive`: the endpoint was busy or broke. The others failed.
    """

    played: int
    passed: int
    ended: int
    inconclusive: int

    @property
    def conclusive(self) -> int:
        """Return how many runs say something of the model."""
        return self.played - self.inconclusive


@dataclass(frozen=True, slots=True)
class Case:
    """One scenario in one variant, played and judged; `note` says why it ended early or was not played at all.

    `runs` are counted where it was played more than once.
    """

    scenario: str
    variant: str
    evidence: Evidence
    outcomes: tuple[Outcome, ...] = ()
    probes: tuple[Probed, ...] = ()
    note: str = ""
    runs: Runs | None = None

    @property
    def name(self) -> str:
        """Return the name of the case, which is also that of its cassette."""
        return f"{self.scenario}.{self.variant}"

    @property
    def is_inconclusive(self) -> bool:
        """Say whether nothing was learned, because the endpoint was busy or broke."""
        return self.note.startswith(INCONCLUSIVE)

    def to_json(self) -> dict[str, Any]:
        """Return the case as the JSON object that results hold; rules that did not apply are left out."""
        shown = [outcome.to_json() for outcome in self.outcomes if outcome.status is not Status.NOT_APPLICABLE]
        return {
            "scenario": self.scenario,
            "variant": self.variant,
            "evidence": self.evidence.value,
            "note": self.note,
            **({} if self.runs is None else {"runs": asdict(self.runs)}),
            "outcomes": shown,
            "probes": [probe.to_json() for probe in self.probes],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Case":
        """Return the case that `to_json` gave."""
        return cls(
            value["scenario"],
            value["variant"],
            Evidence(value["evidence"]),
            tuple(Outcome.from_json(outcome) for outcome in value["outcomes"]),
            tuple(Probed.from_json(probe) for probe in value["probes"]),
            value["note"],
            Runs(**value["runs"]) if "runs" in value else None,
        )


_NO_NAME: Final = re.compile(r"[^\w.-]+")
"""What the name of a model may hold, and a part of a subject's name, or of a file's, may not."""


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was observed of one subject, played through the scenarios.

    `subject` is a provider, by the name of its profile, or an adapter, as `<name>@<version>`; `provider` is then whom
    the adapter spoke to. `versions` are those of the software that was run, as it told them. `further`: they are of
    another model than the one that stands for the provider.
    """

    subject: str
    model: str
    cases: tuple[Case, ...]
    provider: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    further: bool = False

    @property
    def name(self) -> str:
        """Return the name under which it is reported: the subject, with a further model behind a colon.

        An adapter has its provider behind a slash.
        """
        if self.further:
            return f"{self.subject}:{_NO_NAME.sub('-', self.model)}"
        return f"{self.subject}/{self.provider}" if self.provider else self.subject

    @property
    def profile(self) -> str:
        """Return the name of the profile by which it was judged."""
        return self.provider or self.subject

    def to_json(self) -> dict[str, Any]:
        """Return the results as the JSON object of `reports/results/<subject>.json`: no times, a stable order."""
        ordered = sorted(self.cases, key=lambda case: case.name)
        shown: dict[str, Any] = {"subject": self.subject, "model": self.model}
        if self.provider:
            shown["provider"] = self.provider
        if self.versions:
            shown["versions"] = dict(sorted(self.versions.items()))
        if self.further:
            shown["further"] = True
        return shown | _in_columns(ordered)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Results":
        """Return the results that `to_json` gave."""
        cases = _out_of_columns([Case.from_json(case) for case in value["cases"]], value.get("passed", {}))
        return cls(
            value["subject"],
            value["model"],
            cases,
            value.get("provider", ""),
            value.get("versions", {}),
            value.get("further", False),
        )


def _in_columns(cases: Sequence[Case]) -> dict[str, Any]:
    """Return cases without what passed in them, and that by rule: a number a case, of the parts that were judged.

    Most of what is to be said of a case is that rules pass.
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
    """Return cases with what passed in them, outcomes ordered by rule."""
    if not passed:
        return tuple(cases)
    found = []
    for column, case in enumerate(cases):
        own = [
            Outcome(current_id(rule), Status.PASSED, Level(row["level"]), row["judged"][column])
            for rule, row in passed.items()
            if row["judged"][column]
        ]
        outcomes = sorted([*case.outcomes, *own], key=lambda outcome: outcome.rule)
        found.append(replace(case, outcomes=tuple(outcomes)))
    return tuple(found)
