"""What judging yields: plain data that every report is a pure function of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


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

    `refusal` is what the provider is claimed to answer to it, where a profile says so.
    """

    at: str
    message: str
    level: Level
    refusal: Refusal | None = None


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
            rule=value["rule"],
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
    return shown


def _finding_from_json(value: Mapping[str, Any]) -> Finding:
    refusal = value.get("refusal")
    return Finding(value["at"], value["message"], Level(value["level"]), Refusal(**refusal) if refusal else None)
