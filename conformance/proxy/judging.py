"""Copies judged as they come: each exchange within its conversation, each finding once."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from conformance import rules
from conformance.documents.pointer import parse, render
from conformance.judge import Judgement, judge
from conformance.profiles import Profile
from conformance.proxy.conversations import Conversation
from conformance.results import Finding, Status
from conformance.rules import Rule
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index
from conformance.wires import translate


class RuleFinding(NamedTuple):
    """A finding of a rule in a conversation; `at` of the finding counts all exchanges of the conversation."""

    rule: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found in one exchange.

    `found`: findings that are new in the conversation. `applied`: the rules that looked at something in the exchange.
    `failing`: the rules with any finding, also with one that is not new. `broken`: what rules raised, by rule. `known`:
    how many departures of the exchange claims describe, by claim and rule.
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

    def judge(self, conversation: Conversation) -> Judged:
        """Judge the last exchange of a conversation, after those before it."""
        last = len(conversation.exchanges) - 1
        judgement = judge(tuple(conversation.exchanges), self.profile, self.rules)
        found: list[RuleFinding] = []
        broken: list[tuple[str, str]] = []
        failing: list[str] = []
        known: Counter[tuple[str, str]] = Counter()
        for outcome in judgement.found():
            if outcome.status is Status.ERRORED:
                broken.append((outcome.rule, outcome.reason))
                continue
            known.update({(claim, outcome.rule): n for (at, claim), n in outcome.known_at.items() if at == last})
            if outcome.status is Status.FAILED:
                failing.append(outcome.rule)
            for finding in outcome.findings:
                placed = replace(finding, at=_shifted(finding.at, conversation.before))
                if _is_new(conversation, outcome.rule, placed):
                    found.append(RuleFinding(outcome.rule, placed))
        return Judged(
            conversation,
            conversation.exchanges[last],
            conversation.before + last,
            tuple(found),
            tuple(self._applied(judgement, conversation)),
            frozenset(failing),
            tuple(broken),
            known,
        )

    def _applied(self, judgement: Judgement, conversation: Conversation) -> Iterator[str]:
        """Yield the rules that looked at an element of the last exchange."""
        last = len(conversation.exchanges) - 1
        if not last:
            yield from judgement.judged()
            return
        elements = Index(translate(tuple(conversation.exchanges)))
        of_view: dict[int, bool] = {}
        for name in judgement.judged():
            view = rules.by_id()[name].on
            if id(view) not in of_view:
                of_view[id(view)] = any(each.place[0] == last for each in view.select(elements))
            if of_view[id(view)]:
                yield name


def _shifted(at: str, before: int) -> str:
    place = parse(at)
    if not before or not place or not place[0].isdecimal():
        return at
    return render((int(place[0]) + before, *place[1:]))


def _is_new(conversation: Conversation, rule: str, finding: Finding) -> bool:
    """Return True for a finding that was not reported; what a later request sends again is not a further finding."""
    _, number, part, *inside = [*finding.at.split("/"), "", ""][: max(3, finding.at.count("/") + 1)]
    key = rule, "" if part == "request" else number, part, "/".join(inside), finding.message
    if key in conversation.seen:
        return False
    conversation.seen.add(key)
    return True
