"""The engine: one pure function checks every conversation, wherever it came from."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import compress
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from conformance import profiles
from conformance.errors import Unusable
from conformance.profiles import Profile
from conformance.results import Finding, Level, Outcome, Status
from conformance.rules import UNCLAIMED, Fault, Judge, Rule, Where, load, select
from conformance.rules.context import Claimant, Claimed, Context, Known, SchemaFaults
from conformance.rules.findings import finding, known_claim
from conformance.rules.validation import BODIES, find_schema_faults
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index
from conformance.wire.native import CHAT
from conformance.wire.views import View
from conformance.wires import other_api, translate

MAX_FINDINGS = 100
"""An outcome holds this many findings of its rule; a last one says how many more there were."""

# One object, because plans are cached by the identity of the claims.
_NO_CLAIMS: Final[Mapping[str, Any]] = {}
_NO_CLAIMANT: Final = Claimant()


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
    an exchange, Unusable for one whose URL is that of another API, such as embeddings.

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
        if not isinstance(exchange, Exchange):
            message = f"expected an Exchange or a sequence of them, got {type(exchange).__qualname__}"
            raise TypeError(message)
        if path := other_api(exchange):
            raise Unusable(f"exchange {number} is neither chat completions nor another wire that is known: {path}")
    return judge(tuple(exchanges), profiles.resolve_profile(profile), _rules(rules), as_of).outcomes()


def _rules(given: Sequence[Rule | str] | str | None) -> Sequence[Rule]:
    """Return rules that were given as rules, ids or globs."""
    if given is None:
        return load()
    if isinstance(given, str):
        return select((given,))
    ids = [each for each in given if isinstance(each, str)]
    return (*[each for each in given if isinstance(each, Rule)], *(select(ids) if ids else ()))


class Judgement(NamedTuple):
    """What was found in a conversation, without an outcome for each rule that found nothing.

    `counts`: how many elements each rule judged, in the order of the rules; `UNCLAIMED` where a claim that it needs is
    not known. `faulty`: the outcomes of the rules that failed, broke, or found what claims describe, by position.
    """

    plan: "_Plan"
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
        found = [count > 0 for count in counts] if UNCLAIMED in counts else counts
        return list(compress(self.plan.ids, found))


def judge(conversation: Conversation, profile: Profile | None, rules: Sequence[Rule], as_of: str = "") -> Judgement:
    """Check a conversation as `check` does; a rule that finds nothing creates no outcome."""
    return _judgement(_Looked.at(conversation), profile, rules, as_of)


def judge_by_models(
    conversation: Conversation, served: Iterable[tuple[Profile, str]], rules: Sequence[Rule], as_of: str = ""
) -> Iterator[Judgement]:
    """Yield the judgement by each of several providers, given with the name that each has for the model.

    The conversation is translated, indexed and held against the schemas once for all of them.
    """
    looked = _Looked.at(conversation)
    for profile, model in served:
        yield _judgement(looked, profile, rules, as_of, model)


class _Looked(NamedTuple):
    """A conversation and what is found in it without any claim."""

    conversation: Conversation
    views: Index
    schema: SchemaFaults

    @classmethod
    def at(cls, conversation: Conversation) -> "_Looked":
        conversation = translate(conversation)
        index = Index(conversation)
        return cls(conversation, index, find_schema_faults(index))


def _judgement(
    looked: _Looked, profile: Profile | None, rules: Sequence[Rule], as_of: str, model: str | None = None
) -> Judgement:
    """Return the judgement by one provider; `model` replaces those of the exchanges where claims are looked up."""
    index, schema = looked.views, looked.schema
    contexts, plans = [], []
    for number, exchange in enumerate(looked.conversation):
        wire = exchange.protocol
        claims, claimant = _claims(profile, exchange, as_of, exchange.model if model is None else model)
        plan = _plan(_Chosen(rules, claims, wire, claimed=profile is not None))
        contexts.append(Context(number, index, claims, schema, plan.known, claimant))
        plans.append(plan)
    # Without an exchange there are no elements, and any plan will do.
    first = plans[0] if plans else _plan(_Chosen(rules, _NO_CLAIMS, CHAT, claimed=profile is not None))
    run = _RuleRun(index, contexts, plans, first)
    if _raised(run.judge_views) is not None:
        # The faults found so far are dropped: only judging rule by rule shows which one broke.
        run = _RuleRun(index, contexts, plans, first)
        run.judge_views_alone()
    run.judge_by_schema(schema)
    faulty = {at: _outcome(rules[at], run.counts[at], faults, contexts) for at, faults in run.faulty.items()}
    for position, error in run.errors.items():
        rule, reason = rules[position], f"{type(error).__name__}: {error}"
        faulty[position] = Outcome(rule.id, Status.ERRORED, rule.level, run.counts[position], reason=reason)
    return Judgement(first, run.counts, faulty)


def _claims(profile: Profile | None, exchange: Exchange, as_of: str, model: str) -> tuple[Mapping[str, Any], Claimant]:
    """Return the claims for an exchange, and who makes them."""
    if profile is None:
        return _NO_CLAIMS, _NO_CLAIMANT
    on_wire, day = profile.on(exchange.protocol), as_of or exchange.date
    claim_of = partial(on_wire.claim, model=model, date=day)
    return on_wire.at(model, day), Claimant(profile.service, on_wire.contested(model, day), claim_of)


_Step: TypeAlias = tuple[int, Where | None, Judge]
"""A rule as it runs: its position, which elements it concerns, and how it judges one."""

_Steps: TypeAlias = tuple[tuple[Where | None, tuple[_Step, ...]], ...]
"""The rules of one view, by the condition that they share, which is asked once for all of them."""


class _Group(NamedTuple):
    """The rules of one view that the claims leave, and the positions of those that need a claim that is not known."""

    steps: _Steps
    unclaimed: frozenset[int]


class _Plan(NamedTuple):
    """A rule set, arranged for some claims: rules that they rule out are gone before the first element.

    `ids`: those of the rules. `idle`: the outcome of each if it judges nothing. `tables`: the outcomes of each if it
    finds nothing wrong, by its count. `views`: those of the rules, in the same order for all plans of a rule set.
    `groups`: the rules of each. `active`: the positions of the views whose groups hold any rule. `by_schema`: the rules
    that only report what the schemas find, by their views and wires. `known`: what has been found to follow from these
    claims.
    """

    ids: tuple[str, ...]
    idle: tuple[Outcome, ...]
    tables: tuple[Mapping[int, Outcome], ...]
    views: tuple[View, ...]
    groups: tuple[_Group, ...]
    active: tuple[int, ...]
    by_schema: tuple[tuple[View, tuple[str, ...], tuple[_Step, ...]], ...]
    known: Known


class _RuleRun:
    """The rules while they judge the elements of one conversation.

    `faulty`: the faults of each rule, by position, with their elements. `errors`: what broken rules raised.
    """

    __slots__ = ("_contexts", "_first", "_index", "_is_uniform", "_plans", "counts", "errors", "faulty")

    def __init__(self, index: Index, contexts: list[Context], plans: list[_Plan], first: _Plan) -> None:
        self._index = index
        self._contexts = contexts
        self._plans = plans
        self._first = first
        # Lists, not generators, in `all`, `any` and `tuple` on this path: they take a tenth to a third less time.
        self._is_uniform = all([plan is first for plan in plans])
        self.counts = [0] * len(first.idle)
        self.faulty: dict[int, list[tuple[Any, Fault]]] = {}
        self.errors: dict[int, Exception] = {}

    def judge_views(self) -> None:
        """Let each rule judge the elements of its view that concern it; raises what a broken rule raises."""
        first, plans = self._first, self._plans
        # With other claims or on another wire, views have rules in which the first exchange has none.
        for at in first.active if self._is_uniform else range(len(first.views)):
            elements = first.views[at].select(self._index)
            if elements:
                if first.groups[at].unclaimed:
                    self._note_unclaimed(at)
                self._run(elements, [plan.groups[at].steps for plan in plans])

    def judge_views_alone(self) -> None:
        """Do the same rule by rule, so that a broken one breaks no other."""
        for at, view in enumerate(self._first.views):
            elements = view.select(self._index)
            groups = [plan.groups[at].steps for plan in self._plans]
            positions = {step[0] for steps in groups for _, sharing in steps for step in sharing}
            if elements:
                self._note_unclaimed(at)
            for position in sorted(positions) if elements else ():
                self._judge_alone(position, elements, [_only(position, steps) for steps in groups])

    def judge_by_schema(self, schema: SchemaFaults) -> None:
        """Judge what only the schemas find: elements are just counted, and those with errors are judged."""
        index = self._index
        protocols = {exchange.protocol for exchange in index.conversation}
        misshapen = {place[1] for place in schema.shapes if place}
        for view, wires, steps in self._first.by_schema:
            if protocols.isdisjoint(wires):
                continue
            is_alone = protocols.issubset(wires)
            is_misshapen = bool(misshapen) and BODIES[view.side] in misshapen
            faulty: Sequence[Any] = ()
            if is_alone and view.count_quickly is not None and (view.at is not None or not is_misshapen):
                count = view.count_quickly(index)
                if view.at is not None and (is_misshapen or schema.unknown):
                    faulty = view.at(index, {*schema.shapes, *schema.unknown})
            else:
                elements = view.select(index)
                if not is_alone:
                    # A schema says nothing about the bodies of another wire.
                    elements = [each for each in elements if index.conversation[each.place[0]].protocol in wires]
                count = len(elements)
                if is_misshapen or schema.unknown:
                    faulty = [at for at in elements if at.place in schema.shapes or at.place in schema.unknown]
            for step in steps if count else ():
                if faulty:
                    self._judge_alone(step[0], faulty, [((None, (step,)),)] * len(self._contexts))
                self.counts[step[0]] = count

    def _note_unclaimed(self, at: int) -> None:
        """Note the rules of a view that need a claim that is known for none of the exchanges."""
        for position in frozenset.intersection(*[plan.groups[at].unclaimed for plan in self._plans]):
            self.counts[position] = UNCLAIMED

    def _judge_alone(self, position: int, elements: Sequence[Any], steps: Sequence[_Steps]) -> None:
        if (error := _raised(partial(self._run, elements, steps))) is not None:
            self.errors[position] = error

    def _run(self, elements: Sequence[Any], steps: Sequence[_Steps]) -> None:
        """Let rules judge elements; `steps` are those for each exchange."""
        counts, contexts = self.counts, self._contexts
        for element in elements:
            number = element.place[0]
            context = contexts[number]
            for shared, sharing in steps[number]:
                if shared is not None and not shared(element, context):
                    continue
                for position, where, judge_element in sharing:
                    if where is None or where(element, context):
                        counts[position] += 1
                        faults = judge_element(element, context)
                        if faults:
                            self.faulty.setdefault(position, []).extend([(element, fault) for fault in faults])


def _raised(judging: Callable[[], None]) -> Exception | None:
    """Return what a rule raises while it judges; None if it raises nothing."""
    try:
        judging()
    except Exception as error:  # noqa: BLE001 — the one place that turns a broken rule into an outcome
        return error
    return None


def _only(position: int, steps: _Steps) -> _Steps:
    """Return one rule alone."""
    return tuple([(shared, (step,)) for shared, sharing in steps for step in sharing if step[0] == position])


class _Chosen:
    """What a plan is made for; two are equal if they are about the same objects, which is quick to tell."""

    __slots__ = ("claimed", "claims", "rules", "wire")

    def __init__(self, rules: Sequence[Rule], claims: Mapping[str, Any], wire: str, *, claimed: bool) -> None:
        self.rules, self.claims, self.wire, self.claimed = rules, claims, wire, claimed

    def __hash__(self) -> int:
        # The cache holds the claims with the plan, so no other object can get their id meanwhile.
        return id(self.claims)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Chosen):
            return NotImplemented
        is_same = self.claims is other.claims and self.rules is other.rules
        return is_same and self.wire == other.wire and self.claimed is other.claimed


@lru_cache(maxsize=256)
def _plan(chosen: _Chosen) -> _Plan:
    claimed = Claimed(chosen.claims)
    idle = []
    steps: dict[View, dict[Where | None, list[_Step]]] = {}
    unclaimed: dict[View, set[int]] = {}
    by_schema: dict[tuple[View, tuple[str, ...]], list[_Step]] = {}
    for position, rule in enumerate(chosen.rules):
        step: _Step = position, rule.where, rule.judge
        idle.append(rule.outcomes[UNCLAIMED if rule.needs and not chosen.claimed else 0])
        if rule.by_schema:
            by_schema.setdefault((rule.on, rule.wires), []).append(step)
            continue
        known = claimed.knows(*rule.needs)
        sharing = steps.setdefault(rule.on, {})
        if chosen.wire not in rule.wires:
            continue
        if known and (rule.when is None or rule.when(claimed)):
            sharing.setdefault(rule.among, []).append(step)
        elif not known and chosen.claimed:
            unclaimed.setdefault(rule.on, set()).add(position)
    groups = [
        _Group(tuple([(shared, tuple(each)) for shared, each in sharing.items()]), frozenset(unclaimed.get(view, ())))
        for view, sharing in steps.items()
    ]
    return _Plan(
        ids=tuple([rule.id for rule in chosen.rules]),
        idle=tuple(idle),
        tables=tuple([rule.outcomes for rule in chosen.rules]),
        views=tuple(steps),
        groups=tuple(groups),
        active=tuple([at for at, group in enumerate(groups) if group.steps or group.unclaimed]),
        by_schema=tuple([(view, wires, tuple(listed)) for (view, wires), listed in by_schema.items()]),
        known=Known({}, {}),
    )


def _outcome(rule: Rule, judged: int, faulty: list[tuple[Any, Fault]], contexts: list[Context]) -> Outcome:
    """Return the outcome of a rule that found something; it failed unless claims describe all of it."""
    claims = [known_claim(rule, fault, contexts[element.place[0]]) for element, fault in faulty]
    if not any(claims):
        return _failed(rule, judged, faulty, contexts)
    known = [each for each, claim in zip(faulty, claims, strict=True) if claim]
    news = [each for each, claim in zip(faulty, claims, strict=True) if not claim]
    counts = Counter([(element.place[0], claim) for (element, _), claim in zip(faulty, claims, strict=True) if claim])
    described = tuple([finding(rule, each, fault, contexts[each.place[0]]) for each, fault in known[:MAX_FINDINGS]])
    if not news:
        return Outcome(rule.id, Status.PASSED, rule.level, judged, (), "", described, counts)
    failed = _failed(rule, judged, news, contexts)
    return replace(failed, known=described, known_at=counts) if known else failed


def _failed(rule: Rule, judged: int, faulty: list[tuple[Any, Fault]], contexts: list[Context]) -> Outcome:
    findings = [finding(rule, element, fault, contexts[element.place[0]]) for element, fault in faulty[:MAX_FINDINGS]]
    level = max([each.level for each in findings], key=lambda each: each.severity)
    if len(faulty) > MAX_FINDINGS:
        more = len(faulty) - MAX_FINDINGS
        more_findings = f"and {more} more findings of this rule"
        findings.append(Finding(findings[-1].at, more_findings, Level.MAY, side=rule.on.side.value))
    return Outcome(rule.id, Status.FAILED, level, judged, tuple(findings))
