"""Whole conversations with their requests corrected, each as the same client without its faults would send it.

What is changed in a message of one request is changed wherever later requests repeat that message, so that an exchange
costs what it adds. The corrected conversation is judged as a whole: it has no finding that the given one had not.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from conformance.documents.patch import Operation, apply
from conformance.fixes import fix
from conformance.fixes.excerpt import Excerpt, excerpt, source_of
from conformance.fixes.problem import with_request
from conformance.fixes.trial import EARLIER, carried
from conformance.judge import judge
from conformance.profiles import Profile
from conformance.results import Finding, Outcome
from conformance.rules import Rule
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.views import Side

MAX_JUDGED: Final = 2000
"""How many forms of requests are judged for one session; after that, only what was fixed before is carried on."""

MAX_STEPS: Final = 100
"""How many findings of one request are fixed one after the other."""

MAX_ROUNDS: Final = 5
"""How often a session is corrected without the changes that led to another finding."""

MAX_WHOLE: Final = 4
"""How many requests with a long history are judged with all of it in a round: those with findings that are left."""

_Key: TypeAlias = tuple[str, str, str]
"""A finding of a request: its rule, its place in the request and its message."""


class Correction(NamedTuple):
    """Corrected exchanges. `left`: how many findings no fix was looked for. `undone`: how many changes were taken back.

    `undone` counts those that would have led to another finding elsewhere in the session. `remaining`: how many
    findings a rule still has in an exchange. `hopeless`: the findings that have no fix.
    """

    conversation: Conversation
    left: int = 0
    undone: int = 0
    remaining: Mapping[tuple[str, int], int] = MappingProxyType({})
    hopeless: frozenset[_Key] = frozenset()

    def needs_more(self, rule: str, finding: Mapping[str, Any], found: int) -> bool:
        """Return whether a finding of a report, one of some that its rule has in the exchange, is left."""
        _, number, *_ = f"{finding['at']}/".split("/")
        left = self.remaining.get((rule, int(number) if number.isdecimal() else 0), 0)
        is_hopeless = (rule, finding["at"].partition("/request")[2], finding["message"]) in self.hopeless
        return left >= found or (left > 0 and is_hopeless)


def corrected(
    conversation: Conversation,
    profile: Profile | None,
    rules: Sequence[Rule],
    as_of: str = "",
    found: Iterable[Outcome] | None = None,
) -> Correction:
    """Return the exchanges with all that can be fixed in their requests; an exchange without a fix stays the same.

    `found`: what was found in the conversation, if it was judged before.
    """
    judging = _Criteria(profile, tuple(rules), as_of)
    before = _Tally(judging.outcomes(conversation) if found is None else found)
    effort = _Effort(frozenset(before.rules))
    best: tuple[int, Conversation, _Tally] | None = None
    undone = 0
    for _ in range(MAX_ROUNDS):
        effort.steps.clear()
        fixed = _round(conversation, judging, effort)
        outcomes = tuple(judging.outcomes(fixed)) if effort.steps else ()
        after = _Tally(outcomes) if effort.steps else before
        worse = after.worse(before)
        if not worse:
            size = sum(after.counts.values())
            if best is None or size < best[0]:
                best = size, fixed, after
            if not effort.look_closer(outcomes):
                break
            continue
        latest = max((number for number, _ in effort.steps if number <= min(worse)), default=-1)
        blamed = {each for each in effort.steps if each[0] in (*worse, latest)}
        effort.avoided |= blamed
        undone += len(blamed)
    _, whole, left = (0, conversation, before) if best is None else best
    return Correction(whole, effort.left, undone, left.by_exchange(), frozenset(effort.hopeless | effort.unclear))


class _Criteria(NamedTuple):
    """By what a conversation is judged."""

    profile: Profile | None
    rules: tuple[Rule, ...]
    as_of: str

    def outcomes(self, conversation: Conversation) -> Iterator[Outcome]:
        return judge(conversation, self.profile, self.rules, self.as_of).found()


class _Tally:
    """How many findings there are, by rule, level and exchange, and by rule where an outcome holds no more of them."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        self.rules: set[str] = set()
        self.counts: Counter[tuple[str, str, int]] = Counter()
        self.full: set[str] = set()
        for outcome in outcomes:
            self.rules.add(outcome.rule)
            for finding in outcome.findings:
                number = finding.at.split("/")[1] if finding.at else ""
                self.counts[outcome.rule, finding.level.value, int(number) if number.isdecimal() else 0] += 1
            if outcome.findings and outcome.findings[-1].message.endswith("more findings of this rule"):
                self.full.add(outcome.rule)

    def by_exchange(self) -> Mapping[tuple[str, int], int]:
        """Return how many findings each rule has in each exchange."""
        found: Counter[tuple[str, int]] = Counter()
        for (rule, _, number), count in self.counts.items():
            found[rule, number] += count
        return found

    def worse(self, before: "_Tally") -> list[int]:
        """Return the exchanges with more findings than before, in order."""
        more = self.counts - before.counts
        return sorted({number for rule, _, number in more if rule not in before.full})


class _Effort:
    """What a session took so far: forms that were judged, and what was found out about its findings.

    `hopeless`: findings without a fix, which are not tried again where later requests repeat them; `unclear`: those
    without one in an excerpt. `steps`: what was fixed, each with its exchange. `avoided`: steps that led to other
    findings. `whole`: requests to judge with all of their history. `cut`: those that were not. `left`: findings beyond
    the bounds.
    """

    def __init__(self, rules: frozenset[str]) -> None:
        self.rules = rules
        self.judged = 0
        self.left = 0
        self.hopeless: set[_Key] = set()
        self.unclear: set[_Key] = set()
        self.steps: set[tuple[int, _Key]] = set()
        self.avoided: set[tuple[int, _Key]] = set()
        self.whole: set[int] = set()
        self.cut: set[int] = set()

    def wants(self, number: int, key: _Key) -> bool:
        """Return whether a fix is to be looked for."""
        is_tried = key in self.hopeless or (key in self.unclear and number not in self.whole)
        if is_tried or (number, key) in self.avoided or key[0] not in self.rules:
            return False
        if self.judged >= MAX_JUDGED:
            self.left += 1
            return False
        return True

    def look_closer(self, outcomes: Sequence[Outcome]) -> bool:
        """Return whether there are findings left that a whole history may help with, which is looked at once."""
        if self.whole:
            return False
        found = [(int(each.at.split("/")[1]), _key(rule, each)) for rule, each in _of_requests(outcomes)]
        left = {key: number for number, key in reversed(found) if number in self.cut and key not in self.hopeless}
        self.whole.update(sorted(set(left.values()))[:MAX_WHOLE])
        return bool(self.whole)


def _round(conversation: Conversation, judging: _Criteria, effort: _Effort) -> Conversation:
    """Return the exchanges, each corrected after those before it."""
    fixed: list[Exchange] = []
    for number, exchange in enumerate(conversation):
        source, _ = source_of(conversation, number)
        # The messages of an earlier request come back here, changed as they were there.
        current = exchange if source < 0 else carried(exchange, conversation[source].request, fixed[source].request)
        recent = range(max(0, number - EARLIER), number)
        history = [fixed[each] for each in (([source] if 0 <= source < recent.start else []) + [*recent])]
        fixed.append(_without_findings((*history, current), number, judging, effort))
    return tuple(fixed)


def _without_findings(conversation: Conversation, number: int, judging: _Criteria, effort: _Effort) -> Exchange:
    """Return the last exchange of a conversation, with its request fixed step by step."""
    current = conversation[-1]
    for _ in range(MAX_STEPS):
        window = (*conversation[:-1], current)
        patch, is_last = _next_patch(window, number, judging, effort)
        if patch:
            current = with_request(current, apply(current.request, patch))
        if is_last:
            break
    return current


def _next_patch(
    window: Conversation, number: int, judging: _Criteria, effort: _Effort
) -> tuple[Sequence[Operation], bool]:
    """Return the operations that fix the first finding of the last request that has a fix, and whether it was alone."""
    short = Excerpt(window) if number in effort.whole else excerpt(window)
    if short.missing:
        effort.cut.add(number)
    last = f"/{len(window) - 1}/request"
    effort.judged += 1
    every = [each for each in _of_requests(judging.outcomes(short.conversation)) if each[1].at.startswith(last)]
    for rule, finding in every:
        key = _key(rule, short.original(finding))
        if not effort.wants(number, key):
            continue
        step = fix(short.conversation, rule, finding, judging.profile, judging.as_of)
        effort.judged += 0 if step is None else step.trials
        patch = None if step is None else short.patch(step.patch)
        if patch:
            effort.steps.add((number, key))
            # The trial showed that no other finding comes with it, so there is nothing more to look for.
            return patch, len(every) == 1
        (effort.unclear if short.missing else effort.hopeless).add(key)
    return (), True


def _of_requests(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, Finding]]:
    """Yield what is found in requests, each with its rule."""
    for outcome in outcomes:
        for finding in outcome.findings:
            if finding.side == Side.CLIENT.value and finding.at.split("/")[2:3] == ["request"]:
                yield outcome.rule, finding


def _key(rule: str, finding: Finding) -> _Key:
    return rule, finding.at.partition("/request")[2], finding.message
