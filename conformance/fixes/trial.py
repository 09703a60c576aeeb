"""Requests on trial: a fix counts only if the conversation, judged again, lacks the finding and has no new one."""

from collections import Counter
from dataclasses import replace
from typing import Any, Final, NamedTuple

from conformance import rules, wires
from conformance.fixes.content import content_of, loss
from conformance.fixes.problem import Candidate, Problem
from conformance.judge import judge
from conformance.profiles import Profile
from conformance.results import Status
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.reuse import calls_of_messages, result_of
from conformance.wire.values import as_object

_EARLIER: Final = 3
"""How many exchanges before a request are judged with it, if that is enough to see the finding: a reply comes back in
the next request, and judging a whole session for each attempt would take the square of its length."""


class _Found(NamedTuple):
    """The findings about the last exchange: a count by rule and level, and each one by rule, place and message."""

    counts: Counter[tuple[str, str]]
    each: frozenset[tuple[str, str, str]]


class Trial:
    """One finding, and the conversation in which forms of its request are tried. `tried`: how many were judged."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.tried = 0
        self._key = (problem.rule, problem.finding.at.partition("/request")[2], problem.finding.message)
        self._window = problem.conversation[-1 - _EARLIER :]
        self._before = self._judged(self._window)
        if self._key not in self._before.each and len(self._window) < len(problem.conversation):
            self._window = problem.conversation
            self._before = self._judged(self._window)
        self._content = content_of(problem.exchange)

    def accepts(self, candidate: Candidate) -> bool:
        """Return whether a form of the request lacks the finding, has no new one, and loses nothing."""
        if self.loses(candidate):
            return False
        after = self._judged((*self._window[:-1], self.sent(candidate.request)))
        rule = self._key[0]
        fewer = _of_rule(after, rule) < _of_rule(self._before, rule)
        return fewer and self._key not in after.each and not after.counts - self._before.counts

    def loses(self, candidate: Candidate) -> str:
        """Return what a form of the request loses, in words."""
        (sent,) = wires.translate((self.sent(candidate.request),))
        if sent.protocol != self.problem.exchange.protocol:
            return "the request would be one of another wire"
        return loss(self._content, content_of(sent), self._known(), candidate.spared)

    def sent(self, request: Any) -> Exchange:
        """Return the exchange with another request."""
        return replace(self.problem.conversation[-1], request=request)

    def _known(self) -> dict[str, Any]:
        """Return the texts of the results that the session holds."""
        histories = [as_object(each.request).get("messages") or () for each in self.problem.translated]
        calls = self.problem.index.reply_calls or list(calls_of_messages(histories[-1]))
        return {text: call.id for call in calls if (text := result_of(call, histories)) is not None}

    def _judged(self, conversation: Conversation) -> _Found:
        self.tried += 1
        return found_in(conversation, self.problem.profile, self.problem.as_of)


def found_in(conversation: Conversation, profile: Profile | None, as_of: str) -> _Found:
    """Return the findings about the last exchange of a conversation, its reply included."""
    last = f"/{len(conversation) - 1}"
    counts: Counter[tuple[str, str]] = Counter()
    each: set[tuple[str, str, str]] = set()
    for outcome in judge(conversation, profile, rules.load(), as_of).found():
        if outcome.status is Status.ERRORED:
            counts[outcome.rule, "errored"] += 1
        for finding in outcome.findings:
            if finding.at == last or finding.at.startswith(f"{last}/"):
                counts[outcome.rule, finding.level.value] += 1
                each.add((outcome.rule, finding.at.partition("/request")[2], finding.message))
    return _Found(counts, frozenset(each))


def _of_rule(found: _Found, rule: str) -> int:
    return sum([count for (name, _), count in found.counts.items() if name == rule])
