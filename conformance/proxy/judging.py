"""Copies judged as they come: each exchange within its conversation, each finding once."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from conformance import rules
from conformance.judge import Session
from conformance.profiles import Profile
from conformance.proxy.conversations import MAX_BYTES, Conversation
from conformance.results import Finding, Status
from conformance.rules import Rule
from conformance.wire.exchange import Exchange


class RuleFinding(NamedTuple):
    """A finding of a rule in a conversation; `at` of the finding counts all exchanges of the conversation."""

    rule: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found in one exchange.

    `found`: findings that are new in the conversation. `applied`: the rules that looked at something in the exchange.
    `failing`: the rules with any finding in it, also with one that is not new. `broken`: what rules raised, by rule.
    `known`: how many departures of the exchange claims describe, by claim and rule.
    """

    conversation: Conversation
    exchange: Exchange
    number: int
    found: tuple[RuleFinding, ...]
    applied: tuple[str, ...]
    failing: frozenset[str] = frozenset()
    broken: tuple[tuple[str, str], ...] = ()
    known: Mapping[tuple[str, str], int] = field(default_factory=dict)


@dataclass(slots=True)
class Judge:
    """Judges exchanges by all rules, with the claims of a profile where there is one."""

    profile: Profile | None
    rules: Sequence[Rule] = field(default_factory=rules.of_traffic)

    def judge(self, conversation: Conversation, exchange: Exchange) -> Judged:
        """Judge the next exchange of a conversation, after those before it."""
        if conversation.session is None:
            conversation.session = Session(self.profile, self.rules, max_bytes=MAX_BYTES)
        session = conversation.session
        judgement = session.judge(exchange)
        last = session.count - 1
        found: list[RuleFinding] = []
        broken: list[tuple[str, str]] = []
        failing: list[str] = []
        known: Counter[tuple[str, str]] = Counter()
        for outcome in judgement.found():
            if outcome.status is Status.ERRORED:
                broken.append((outcome.rule, outcome.reason))
                continue
            known.update({(claim, outcome.rule): count for (_, claim), count in outcome.known_at.items()})
            if outcome.status is Status.FAILED:
                failing.append(outcome.rule)
            found += [
                RuleFinding(outcome.rule, finding)
                for finding in outcome.findings
                if _is_new(conversation, outcome.rule, finding)
            ]
        applied = tuple(judgement.judged())
        return Judged(conversation, exchange, last, tuple(found), applied, frozenset(failing), tuple(broken), known)


def _is_new(conversation: Conversation, rule: str, finding: Finding) -> bool:
    """Return True for a finding that was not reported; what a later request sends again is not a further finding."""
    _, number, part, *inside = [*finding.at.split("/"), "", ""][: max(3, finding.at.count("/") + 1)]
    key = rule, "" if part == "request" else number, part, "/".join(inside), finding.message
    if key in conversation.seen:
        return False
    conversation.seen.add(key)
    return True
