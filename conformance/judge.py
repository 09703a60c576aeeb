"""The engine: one pure function checks every conversation, wherever it came from."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

from conformance import profiles
from conformance.errors import Unusable
from conformance.profiles import Profile
from conformance.results import Finding, Level, Outcome, Status
from conformance.rules import UNCLAIMED, Rule, load, select
from conformance.rules.context import Context
from conformance.rules.findings import finding, known_claim
from conformance.rules.kept import FoundFault, RuleTally
from conformance.rules.plans import RulePlan
from conformance.rules.running import RuleRun, raised
from conformance.wire.elements import Reply
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index
from conformance.wires import Translator, other_api, translate

MAX_SESSION_BYTES = 64 * 1024 * 1024
"""How many bytes of exchanges a session holds by default."""
MAX_FINDINGS = 100
"""An outcome holds this many findings of its rule; a last one says how many more there were."""


def check(
    conversation: Exchange | Sequence[Exchange],
    profile: Profile | str | Path | None = None,
    rules: Sequence[Rule | str] | str | None = None,
    *,
    as_of: str = "",
) -> tuple[Outcome, ...]:
    """Check an exchange, or the exchanges of one session in their order, and return one outcome per rule.

    `profile`: the provider that the severity depends on, as a Profile, a name such as "deepseek", or the path of a
    YAML file; None checks the canonical wire. `rules`: rule ids or globs, `*` for every
    rule; by default those that do not report what a suite provokes, such as a refused request. Each exchange is
    checked against the claims for its own model on `as_of`, an ISO 8601 day; if that is empty, on its own date; if it
    has none, on the last day on which the profile's sources were read. Outcomes are in the order of the rules. Nothing
    is raised for what the wire holds: a rule that breaks on it has the status `errored`. Raises UnknownName for a
    provider or rule that does not exist, InvalidDocument for a profile that cannot be read, TypeError for what is not
    an exchange, Unusable for one of another API, by its URL or its bodies, such as embeddings.

        >>> from conformance import Exchange, Status, check
        >>> call = {"id": "call_1", "type": "function", "function": {"name": "get_time", "arguments": "{}"}}
        >>> messages = [{"role": "user", "content": "What time is it?"},
        ...             {"role": "assistant", "content": None, "tool_calls": [call]},
        ...             {"role": "tool", "tool_call_id": "call_2", "content": "12:00"}]
        >>> outcomes = check(Exchange(request={"model": "gpt-5", "messages": messages}))
        >>> [outcome.rule for outcome in outcomes if outcome.status is Status.FAILED]
        ['transcript/calls-answered', 'transcript/result-answers-call']
    """
    exchanges: Sequence[Any] = (conversation,) if isinstance(conversation, Exchange) else tuple(conversation)
    for number, exchange in enumerate(exchanges):
        _require_known(exchange, number)
    return judge(tuple(exchanges), profiles.resolve_profile(profile), _rules(rules), as_of).outcomes()


def _require_known(exchange: Any, number: int) -> None:
    """Raise TypeError for what is not an exchange, and Unusable for one of another API."""
    if not isinstance(exchange, Exchange):
        message = f"expected an Exchange or a sequence of them, got {type(exchange).__qualname__}"
        raise TypeError(message)
    if path := other_api(exchange):
        raise Unusable(f"exchange {number} is neither chat completions nor another wire that is known: {path}")


def _rules(given: Sequence[Rule | str] | str | None) -> Sequence[Rule]:
    """Return rules that were given as rules, ids or globs."""
    if given is None:
        return load()
    if isinstance(given, str):
        return select((given,))
    if isinstance(given, tuple) and all(isinstance(each, Rule) for each in given):
        # The same object, because plans are kept by the identity of their rules.
        return given
    ids = [each for each in given if isinstance(each, str)]
    return (*[each for each in given if isinstance(each, Rule)], *(select(ids) if ids else ()))


class Judgement(NamedTuple):
    """What was found in a conversation, without an outcome for each rule that found nothing.

    `counts`: how many elements each rule judged, in the order of the rules; `UNCLAIMED` where a claim that it needs is
    not known. `faulty`: the outcomes of the rules that failed, broke, or found what claims describe, by position.
    """

    plan: RulePlan
    counts: list[int]
    faulty: dict[int, Outcome]

    def outcomes(self) -> tuple[Outcome, ...]:
        """Return one outcome per rule."""
        outcomes, counts, tables = list(self.plan.idle), self.counts, self.plan.tables
        # Most rules judge nothing, and keep the outcome that the plan has ready. UNCLAIMED is not 0, and counts here.
        for position in compress(range(len(counts)), counts):
            outcomes[position] = tables[position][counts[position]]
        for position, outcome in self.faulty.items():
            outcomes[position] = outcome
        return tuple(outcomes)

    def found(self) -> Iterator[Outcome]:
        """Yield the outcomes of the rules that failed, broke, or found what claims describe."""
        yield from [self.faulty[position] for position in sorted(self.faulty)]

    def judged(self) -> list[str]:
        """Return the ids of the rules that judged elements, in the order of the rules."""
        counts = self.counts
        # A list of counts selects by itself, but UNCLAIMED is not 0, and would select a rule that judged nothing.
        found = [count > 0 for count in counts] if UNCLAIMED in counts else counts
        return list(compress(self.plan.ids, found))


def judge(conversation: Conversation, profile: Profile | None, rules: Sequence[Rule], as_of: str = "") -> Judgement:
    """Check a conversation as `check` does; a rule that finds nothing creates no outcome."""
    return judgement(Index(translate(conversation, presumed_wire(profile))), profile, rules, as_of)


def judge_by_models(
    conversation: Conversation, served: Iterable[tuple[Profile, str]], rules: Sequence[Rule], as_of: str = ""
) -> Iterator[Judgement]:
    """Yield the judgement by each of several providers, given with the name that each has for the model.

    The conversation is translated, indexed and held against the schemas once for all of them.
    """
    index = Index(translate(conversation))
    for profile, model in served:
        yield judgement(index, profile, rules, as_of, model)


def judge_apart(
    conversation: Conversation, profile: Profile | None, rules: Sequence[Rule], as_of: str = ""
) -> Judgement:
    """Check a conversation as `judge` does, but each request from its first message on, whatever was judged before."""
    index = Index(translate(conversation, presumed_wire(profile)), continues=False)
    return judgement(index, profile, rules, as_of)


def presumed_wire(profile: Profile | None) -> str:
    """Return the wire of exchanges that do not show their own, by the provider that judges them; empty if none does."""
    return "" if profile is None else profile.presumed_wire


def judge_last(
    conversation: Conversation, profile: Profile | None, rules: Sequence[Rule] | None = None, as_of: str = ""
) -> Judgement:
    """Check the last exchange of a conversation as `judge` does; those before it are only what it continues."""
    index = Index(translate(conversation, presumed_wire(profile)))
    return judgement_of_last(index, profile, load() if rules is None else rules, as_of)


def judgement_of_last(index: Index, profile: Profile | None, rules: Sequence[Rule], as_of: str) -> Judgement:
    """Return the judgement of the last exchange of an indexed conversation; those before it are not judged."""
    run, tally = _before_last(index, profile, rules, as_of)
    if raised(partial(run.add, tally)) is not None:
        # What the run had found when a rule broke is dropped: it would be counted twice.
        run, tally = _before_last(index, profile, rules, as_of)
        run.add_alone(tally)
    return judgement_of(run, tally, run.plans[-1:])


def _before_last(index: Index, profile: Profile | None, rules: Sequence[Rule], as_of: str) -> tuple[RuleRun, RuleTally]:
    run = RuleRun(index, rules, profile, as_of)
    for _ in index.parts[:-1]:
        run.pass_over()
    return run, RuleTally(len(rules))


def judgement(
    index: Index, profile: Profile | None, rules: Sequence[Rule], as_of: str, model: str | None = None
) -> Judgement:
    """Return the judgement of an indexed conversation by one provider, of any of several.

    `model` replaces those of the exchanges where claims are looked up.
    """
    run, tally = RuleRun(index, rules, profile, as_of, model), RuleTally(len(rules))
    if raised(partial(_add_all, run, tally)) is not None:
        # The faults found so far are dropped: only judging rule by rule shows which one broke.
        run, tally = RuleRun(index, rules, profile, as_of, model), RuleTally(len(rules))
        for _ in index.parts:
            run.add_alone(tally)
    return judgement_of(run, tally, run.plans or [run.first])


def _add_all(run: RuleRun, tally: RuleTally) -> None:
    for _ in run.index.parts:
        run.add(tally)


class Session:
    """One conversation that is judged as it goes on: each exchange once, by what is new in it.

    `profile`, `rules` and `as_of` are those of `check`. `max_bytes` bounds the memory: a session holds each message
    once, and 64 bytes for each request that repeats it; it needs several times these bytes. Beyond the bound, the older
    half is forgotten, as if the conversation had begun later: what follows is not compared with it any more. `size` is
    the number of bytes that are held.

        >>> from conformance import Exchange, Session
        >>> session = Session()
        >>> asked = {"model": "gpt-5", "messages": [{"role": "user", "content": "Hi"}]}
        >>> broken = {"model": "gpt-5", "messages": [{"role": "tool", "tool_call_id": "call_1", "content": "12:00"}]}
        >>> for request in (asked, broken):
        ...     for outcome in session.add(Exchange(request=request)):
        ...         for finding in outcome.findings:
        ...             print(finding.at, outcome.rule)
        /1/request/messages/0 transcript/result-answers-call
    """

    def __init__(
        self,
        profile: Profile | str | Path | None = None,
        rules: Sequence[Rule | str] | str | None = None,
        *,
        as_of: str = "",
        max_bytes: int = MAX_SESSION_BYTES,
    ) -> None:
        """Begin without an exchange; raises UnknownName and InvalidDocument as `check` does."""
        self._profile, self._rules = profiles.resolve_profile(profile), _rules(rules)
        self._as_of, self._max_bytes = as_of, max_bytes
        self._sizes: list[int] = []
        self.count = 0
        self._begin()

    @property
    def size(self) -> int:
        """Return how many bytes of exchanges are held; what several requests have in common counts once."""
        return sum(self._sizes)

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """Return the exchanges that are held, translated."""
        return self._index.conversation

    @property
    def last(self) -> Exchange:
        """Return the last exchange, as one of chat completions."""
        return self._index.conversation[-1]

    @property
    def replies(self) -> Sequence[Reply]:
        """Return the replies of the last exchange."""
        return self._index.parts[-1].replies

    def add(self, exchange: Exchange) -> tuple[Outcome, ...]:
        """Judge the next exchange of the conversation; return one outcome per rule, about this exchange alone.

        The outcomes of all exchanges together are those of `check` for the whole conversation. A pointer begins with
        the number of the exchange in the session. Raises TypeError and Unusable as `check` does.
        """
        _require_known(exchange, self.count)
        return self.judge(exchange).outcomes()

    def judge(self, exchange: Exchange) -> Judgement:
        """Judge the next exchange as `add` does; a rule that finds nothing creates no outcome."""
        part = self._index.add(self._translate(exchange))
        self._sizes.append(part.size)
        self.count += 1
        tally = RuleTally(len(self._rules))
        if raised(partial(self._run.add, tally)) is not None:
            self._run.forget_last()
            tally = RuleTally(len(self._rules))
            self._run.add_alone(tally)
        found = judgement_of(self._run, tally, self._run.plans[-1:], self.count - len(self._sizes))
        if self.size > self._max_bytes and len(self._sizes) > 1:
            self._forget()
        return found

    def _begin(self) -> None:
        self._translate = Translator(presumed_wire(self._profile))
        self._index = Index(grows=True)
        self._run = RuleRun(self._index, self._rules, self._profile, self._as_of)

    def _forget(self) -> None:
        """Begin again with the last exchanges, as many as fill half of the bound."""
        # As received: the new translator has to see what the former one saw.
        kept = [each.as_received for each in self._index.conversation]
        self._sizes = []
        held = self._index
        self._begin()
        start = max(1, len(kept) // 2)
        while start < len(kept) - 1 and held.size_from(start) > self._max_bytes // 2:
            start += 1
        for exchange in kept[start:]:
            self._sizes.append(self._index.add(self._translate(exchange)).size)
            tally = RuleTally(len(self._rules))
            if raised(partial(self._run.add, tally)) is not None:
                self._run.forget_last()
                self._run.add_alone(tally)


def judgement_of(run: RuleRun, tally: RuleTally, plans: Sequence[RulePlan], before: int = 0) -> Judgement:
    """Return what a run found in some exchanges, given their plans; `before`: how many are not held any more."""
    run.unclaimed(tally, plans)
    faulty = {at: _outcome(run, at, tally.counts[at], faults, before) for at, faults in tally.faulty.items()}
    for position, error in tally.errors.items():
        rule, reason = run.rules[position], f"{type(error).__name__}: {error}"
        faulty[position] = Outcome(rule.id, Status.ERRORED, rule.level, tally.counts[position], reason=reason)
    # Whatever the claims are, all plans of a rule set have the same ids, and the same outcomes for a count.
    return Judgement(plans[0], tally.counts, faulty)


def _outcome(run: RuleRun, position: int, judged: int, faulty: list[FoundFault], before: int) -> Outcome:
    """Return the outcome of a rule that found something; it failed unless claims describe all of it."""
    rule, contexts = run.rules[position], run.contexts
    if rule.on.ranked:
        # Faults come in the order of requests, which stays, and such elements have that of the replies they send back.
        faulty.sort(key=lambda each: each[1].rank[0])
    if rule.known_by is None:
        claims = [fault.known for _, _, fault in faulty]
    else:
        claims = [known_claim(rule, fault, contexts[number]) for number, _, fault in faulty]
    if not any(claims):
        return _failed(rule, judged, faulty, contexts, before)
    known = [each for each, claim in zip(faulty, claims, strict=True) if claim]
    news = [each for each, claim in zip(faulty, claims, strict=True) if not claim]
    counts = Counter([(number + before, claim) for (number, _, _), claim in zip(faulty, claims, strict=True) if claim])
    described = tuple([_finding(rule, each, contexts, before) for each in known[:MAX_FINDINGS]])
    if not news:
        return Outcome(rule.id, Status.PASSED, rule.level, judged, (), "", described, counts)
    failed = _failed(rule, judged, news, contexts, before)
    return replace(failed, known=described, known_at=counts) if known else failed


def _failed(rule: Rule, judged: int, faulty: list[FoundFault], contexts: Sequence[Context], before: int) -> Outcome:
    findings = [_finding(rule, each, contexts, before) for each in faulty[:MAX_FINDINGS]]
    level = max([each.level for each in findings], key=lambda each: each.severity)
    if len(faulty) > MAX_FINDINGS:
        more = len(faulty) - MAX_FINDINGS
        more_findings = f"and {more} more findings of this rule"
        findings.append(Finding(findings[-1].at, more_findings, Level.MAY, side=rule.on.side.value))
    return Outcome(rule.id, Status.FAILED, level, judged, tuple(findings))


def _finding(rule: Rule, found: FoundFault, contexts: Sequence[Context], before: int) -> Finding:
    """Return a fault as a finding, in the exchange in which it was found: its element may be that of an earlier one."""
    number, element, fault = found
    place = (*element.place, *fault.at) if fault.place is None else fault.place
    return finding(rule, (number + before, *place[1:]), fault, contexts[number])
