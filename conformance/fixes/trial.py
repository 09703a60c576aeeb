"""Requests on trial: a fix counts only if the conversation, judged again, lacks the finding and has no new one."""

from collections import Counter
from typing import Any, Final, NamedTuple

from conformance import rules, wires
from conformance.documents.patch import apply, difference
from conformance.documents.pointer import parse
from conformance.fixes.content import content_of, loss
from conformance.fixes.excerpt import LISTS, shared_length
from conformance.fixes.problem import Candidate, ClientProblem, with_request
from conformance.judge import judge, presumed_wire
from conformance.profiles import Profile
from conformance.results import Status
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.values import as_object

EARLIER: Final = 3
"""How many exchanges before a request are judged with it, if that is enough to see the finding: a reply comes back in
the next request, and judging a whole session for each attempt would take the square of its length."""


class _Found(NamedTuple):
    """The findings about the last exchange: a count by rule and level, and each one by rule, place and message."""

    counts: Counter[tuple[str, str]]
    each: frozenset[tuple[str, str, str]]


class Trial:
    """One finding, and the conversation in which forms of its request are tried. `tried`: how many were judged."""

    def __init__(self, problem: ClientProblem) -> None:
        self.problem = problem
        self.tried = 0
        self._key = (problem.rule, problem.finding.at.partition("/request")[2], problem.finding.message)
        self._before = self._judged(problem.translated)
        self._content = content_of(problem.exchange)
        self._known = self._known_texts()

    @property
    def sees_the_finding(self) -> bool:
        """Return whether the conversation has the finding at all: it may need more of the session."""
        return self._key in self._before.each

    def accepts(self, candidate: Candidate) -> bool:
        """Return whether a form of the request lacks the finding, has no new one, and loses nothing."""
        conversation = self._with(candidate)
        if self._loss(conversation[-1], candidate):
            return False
        after = self._judged(conversation)
        rule = self._key[0]
        fewer = _of_rule(after, rule) < _of_rule(self._before, rule)
        return fewer and self._key not in after.each and not after.counts - self._before.counts

    def _with(self, candidate: Candidate) -> Conversation:
        """Return the translated conversation with another form of its last request."""
        # A client that is fixed was so in the requests before, too: a history that differs from theirs is no new fault.
        earlier = [carried(each, self.problem.request, candidate.request) for each in self.problem.conversation[:-1]]
        return wires.translate((*earlier, self.sent(candidate.request)), presumed_wire(self.problem.profile))

    def _loss(self, sent: Exchange, candidate: Candidate) -> str:
        """Return what a form of the request loses, in words."""
        if sent.protocol != self.problem.exchange.protocol:
            return "the request would be one of another wire"
        return loss(self._content, content_of(sent), self._known, candidate.spared, candidate.retold)

    def sent(self, request: Any) -> Exchange:
        """Return the exchange with another request."""
        return with_request(self.problem.conversation[-1], request)

    def _known_texts(self) -> str:
        """Return what earlier exchanges of the session say, requests and replies."""
        earlier = self.problem.translated[:-1]
        said = [content_of(each).all_text for each in earlier]
        replies = [reply.message for reply in self.problem.index.replies if int(reply.place[0]) < self.problem.number]
        answers = Exchange.of_plain(request={"messages": replies})
        return "\n".join([*said, content_of(answers).all_text])

    def _judged(self, conversation: Conversation) -> _Found:
        self.tried += 1
        return found_in(conversation, self.problem.profile, self.problem.as_of)


def carried(exchange: Exchange, before: Any, after: Any) -> Exchange:
    """Return an exchange of the session whose request has what changed in another, where both were the same."""
    request = exchange.request
    key = next((each for each in LISTS if isinstance(as_object(before).get(each), list)), "")
    if not key or not all(isinstance(as_object(each).get(key), list) for each in (request, after)):
        return exchange
    same = shared_length(request[key], before[key])
    if same == len(before[key]):
        # Most requests add to the one before, and comparing whole histories takes the square of a session's length.
        return with_request(exchange, {**request, key: [*after[key], *request[key][same:]]})
    changes = [each for each in difference(before[key], after[key]) if int(parse(each["path"])[0]) < same]
    return with_request(exchange, {**request, key: apply(request[key], changes)}) if changes else exchange


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
