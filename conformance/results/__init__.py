"""The outcomes of checks, as plain data; every report is a pure function of them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.results.vocabulary import (
    ENDED_BY_MODEL,
    INCONCLUSIVE,
    NOT_PLAYED,
    NOTHING_TO_JUDGE,
    PUBLIC_RECORDINGS,
    TRAFFIC,
    UNREADABLE,
    Evidence,
    Harm,
    Level,
    Status,
    Verdict,
)

__all__ = [
    "ENDED_BY_MODEL",
    "INCONCLUSIVE",
    "NOTHING_TO_JUDGE",
    "NOT_PLAYED",
    "PUBLIC_RECORDINGS",
    "TRAFFIC",
    "UNREADABLE",
    "Evidence",
    "Finding",
    "Harm",
    "Level",
    "Outcome",
    "Refusal",
    "Status",
    "Verdict",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Refusal:
    """How a provider answers a request that it rejects: HTTP status and the members of its error object.

    `body` is the whole body if no error shape describes it.
    """

    status: int
    message: str | None = None
    type: str | None = None
    code: str | int | None = None
    param: str | None = None
    body: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation of a rule: where (a JSON Pointer into the conversation), and "expected …, got …".

    `refusal` is the provider's answer to it, if its profile claims one. `excerpt` is the JSON at that place, or its
    start. For a reply, `asked` is the last message of the request. Both are empty if they were not kept. `side`: who is
    responsible, `client` or `provider`, empty if not stated. `handling` is what the provider is claimed to do instead
    of rejecting it: accepted, ignored, damaged or unknown; empty if it rejects it, or if there is no such claim.
    `harm` is what it does to an agent. `contested`: what other sources say the provider does; empty if they agree.
    `known` names the claim that describes this departure of the provider; empty if it is news.
    """

    at: str
    message: str
    level: Level
    refusal: Refusal | None = None
    excerpt: str = ""
    asked: str = ""
    side: str = ""
    handling: str = field(default="", compare=False)
    harm: Harm = field(default=Harm.FORM, compare=False)
    contested: str = field(default="", compare=False)
    known: str = field(default="", compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return the finding as the JSON object that results contain."""
        shown: dict[str, Any] = {"at": self.at, "message": self.message, "level": self.level.value}
        if self.side:
            shown["side"] = self.side
        if self.refusal is not None:
            members = {name: getattr(self.refusal, name) for name in ("status", "message", "type", "code", "param")}
            shown["refusal"] = {name: member for name, member in members.items() if member is not None}
        quoted = {"excerpt": self.excerpt, "asked": self.asked}
        return shown | {name: text for name, text in quoted.items() if text}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one rule for one conversation.

    `judged` counts the elements that were checked; a rule never passes with none. `reason` says why a rule did not
    apply, or what it raised. `known` are departures that a claim of the profile describes, the first ones of them, and
    `known_at` the number of all by exchange and claim: they are no findings, and a rule that finds nothing else passes.
    """

    rule: str
    status: Status
    level: Level
    judged: int = 0
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    known: tuple[Finding, ...] = field(default=(), compare=False)
    known_at: Mapping[tuple[int, str], int] = field(default_factory=dict, compare=False)

    @property
    def known_counts(self) -> Mapping[str, int]:
        """Return the number of departures that each claim describes."""
        found: Counter[str] = Counter()
        for (_, claim), count in self.known_at.items():
            found[claim] += count
        return found

    @property
    def found_nothing(self) -> bool:
        """Return True if the rule did not apply because it found no element to check."""
        return self.status is Status.NOT_APPLICABLE and self.reason.startswith(NOTHING_TO_JUDGE)

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as the JSON object that reports contain."""
        shown: dict[str, Any] = {
            "rule": self.rule,
            "status": self.status.value,
            "level": self.level.value,
            "judged": self.judged,
            "findings": [finding.to_json() for finding in self.findings],
        }
        return shown | ({"reason": self.reason} if self.reason else {})

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Outcome":
        """Return the outcome that `to_json` wrote."""
        return cls(
            rule=value["rule"],
            status=Status(value["status"]),
            level=Level(value["level"]),
            judged=value["judged"],
            findings=tuple(_finding_from_json(finding) for finding in value["findings"]),
            reason=value.get("reason", ""),
        )


def _finding_from_json(value: Mapping[str, Any]) -> Finding:
    refusal = value.get("refusal")
    return Finding(
        value["at"],
        value["message"],
        Level(value["level"]),
        Refusal(**refusal) if refusal else None,
        value.get("excerpt", ""),
        value.get("asked", ""),
        value.get("side", ""),
    )
