"""The engine: one pure function judges every conversation, wherever it came from."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from conformance import profiles
from conformance.documents.pointer import Place, render
from conformance.profiles import Profile
from conformance.results import Finding, Level, Outcome, Refusal, Status
from conformance.rules import Fault, Rule, load, select
from conformance.rules._context import UNKNOWN, Context, SchemaFaults
from conformance.schemas import SchemaError, validator
from conformance.wire.elements import Body
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index
from conformance.wire.views import View

MAX_FINDINGS = 100
"""How many findings of one rule an outcome holds; the last one says how many more there were."""

_MESSAGE_DEPTH = 4
"""Messages stand at `/<exchange>/request/messages/<number>`, the only objects that the canonical wire closes."""


def check(
    conversation: Exchange | Sequence[Exchange],
    profile: Profile | str | Path | None = None,
    rules: Sequence[Rule | str] | str | None = None,
) -> tuple[Outcome, ...]:
    """Check an exchange, or the exchanges of one session in their order, and return one outcome per rule.

    `profile`: the provider that the severity depends on, as a Profile, a name such as "deepseek", or the path of a
    YAML file; None checks the canonical wire. `rules`: rule ids or globs; every rule by default. Each exchange is
    checked against the claims for its own model and date. Outcomes are in the order of the rules. Nothing is raised
    for what the wire holds: a rule that breaks on it has the status `errored`. Raises UnknownName for a provider or
    rule that does not exist, InvalidDocument for a profile that cannot be read, TypeError for what is no exchange.

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
    for exchange in exchanges:
        if not isinstance(exchange, Exchange):
            message = f"expected an Exchange or a sequence of them, got {type(exchange).__qualname__}"
            raise TypeError(message)
    chosen = _rules(rules)
    return _check(tuple(exchanges), profiles.resolve_profile(profile), chosen)


def _rules(given: Sequence[Rule | str] | str | None) -> Sequence[Rule]:
    """Return rules that were given as rules, ids or globs."""
    if given is None:
        return load()
    if isinstance(given, str):
        return select((given,))
    ids = [each for each in given if isinstance(each, str)]
    return (*[each for each in given if isinstance(each, Rule)], *(select(ids) if ids else ()))


def _check(conversation: Conversation, profile: Profile | None, rules: Sequence[Rule]) -> tuple[Outcome, ...]:
    claimed = profile is not None
    plan = _plan_of_all(claimed=claimed) if rules is load() else _plan(rules, claimed=claimed)
    index = Index(conversation)
    schema = _schema_faults(index)
    contexts = [
        Context(exchange, index, {} if profile is None else profile.at(exchange.model, exchange.date), schema)
        for exchange in conversation
    ]
    outcomes = list(plan.idle)
    for view, group in plan.groups:
        parts = view.select(index)
        if parts:
            for position, rule in group:
                outcomes[position] = _judge(rule, parts, contexts)
    valid = not schema.shapes and not schema.unknown
    for position, rule in plan.by_schema:
        view = rule.on
        if valid and view.tally is not None:
            outcomes[position] = rule.passed(view.tally(index))
        else:
            parts = view.select(index)
            outcomes[position] = rule.passed(len(parts)) if valid else _judge(rule, parts, contexts)
    return tuple(outcomes)


class _Plan(NamedTuple):
    """A rule set, laid out so that what cannot be judged costs nothing.

    `idle`: each rule's outcome where it finds nothing to judge, in the rules' order. `groups`: rules by their view,
    each with its position. `by_schema`: the rules that only hand on what the schemas find.
    """

    idle: tuple[Outcome, ...]
    groups: tuple[tuple[View, tuple[tuple[int, Rule], ...]], ...]
    by_schema: tuple[tuple[int, Rule], ...]


@cache
def _plan_of_all(*, claimed: bool) -> _Plan:
    return _plan(load(), claimed=claimed)


def _plan(rules: Sequence[Rule], *, claimed: bool) -> _Plan:
    idle = []
    groups: dict[View, list[tuple[int, Rule]]] = {}
    by_schema = []
    for position, rule in enumerate(rules):
        unclaimed = bool(rule.needs) and not claimed
        idle.append(rule.unclaimed() if unclaimed else rule.passed(0))
        if rule.by_schema:
            by_schema.append((position, rule))
        elif not unclaimed:
            groups.setdefault(rule.on, []).append((position, rule))
    return _Plan(tuple(idle), tuple((view, tuple(group)) for view, group in groups.items()), tuple(by_schema))


def _judge(rule: Rule, parts: Sequence[Any], contexts: list[Context]) -> Outcome:
    judge, where = rule.judge, rule.where
    if rule.needs:
        known = {number for number, context in enumerate(contexts) if context.knows(rule.needs)}
        if not known:
            return rule.unclaimed()
        parts = [part for part in parts if part.place[0] in known]
    faulty: list[tuple[Any, Fault]] = []
    judged = 0
    try:
        for part in parts:
            context = contexts[part.place[0]]
            if where is None or where(part, context):
                judged += 1
                faults = judge(part, context)
                if faults:
                    faulty += [(part, fault) for fault in faults]
    except Exception as error:  # noqa: BLE001 — the one place where a broken rule becomes an outcome
        return Outcome(rule.id, Status.ERRORED, rule.level, judged, reason=f"{type(error).__name__}: {error}")
    if faulty:
        return _failed(rule, judged, faulty, contexts)
    return rule.outcomes.get(judged) or rule.passed(judged)


def _failed(rule: Rule, judged: int, faulty: list[tuple[Any, Fault]], contexts: list[Context]) -> Outcome:
    findings = [_finding(rule, part, fault, contexts[part.place[0]]) for part, fault in faulty[:MAX_FINDINGS]]
    level = max((finding.level for finding in findings), key=lambda each: each.weight)
    if len(faulty) > MAX_FINDINGS:
        more = len(faulty) - MAX_FINDINGS
        findings.append(Finding(findings[-1].at, f"and {more} more findings of this rule", Level.MAY))
    return Outcome(rule.id, Status.FAILED, level, judged, tuple(findings))


def _finding(rule: Rule, part: Any, fault: Fault, context: Context) -> Finding:
    place: Place = (*part.place, *fault.at) if fault.place is None else fault.place
    verdict = fault.verdict or context.claims.get(fault.claim or rule.refused or "", UNKNOWN)
    level = _level(fault.level or rule.level, verdict)
    return Finding(render(place), fault.message, level, _refusal(verdict, place, fault))


def _level(canonical: Level, verdict: Any) -> Level:
    """Return how much a breach weighs at a provider.

    What it is known to refuse or to damage is MUST, what it is known to bear is SHOULD at most, and what is not known
    keeps the canonical level.
    """
    if isinstance(verdict, Mapping):
        verdict = verdict.get("refusal", verdict)
    if verdict == "damaged" or isinstance(verdict, Mapping):
        return Level.MUST
    if verdict in ("accepted", "ignored") and canonical is Level.MUST:
        return Level.SHOULD
    return canonical


class _Values(dict[str, Any]):
    """The values of a message template; a placeholder without one stays as it is written."""

    def __missing__(self, key: str) -> str:
        return "{" + key + "}"


def _refusal(verdict: Any, place: Place, fault: Fault) -> Refusal | None:
    """Return what a provider answers to a fault, its claimed wording filled with the fault's own values."""
    claimed = verdict.get("refusal", verdict) if isinstance(verdict, Mapping) else None
    if not isinstance(claimed, Mapping) or "status" not in claimed:
        return None
    position = place[3] if place[1:3] == ("request", "messages") and len(place) > 3 else ""
    values = _Values({"index": position, **fault.values})
    texts = {
        name: claimed[name].format_map(values) if isinstance(claimed.get(name), str) else claimed.get(name)
        for name in ("message", "type", "code", "param")
    }
    return Refusal(status=claimed["status"], **texts)


def _schema_faults(index: Index) -> SchemaFaults:
    """Judge the bodies by the canonical schemas and give each error to the part that answers for it."""
    errors = [
        *_errors("canonical/request", index.requests),
        *_errors("canonical/response", index.responses),
    ]
    for stream in index.streams:
        # One call for all chunks costs half of what one for each does.
        if not validator("canonical/stream").is_valid([chunk for chunk in stream.value.chunks if chunk is not None]):
            chunks = [chunk for chunk in index.chunks if chunk.place[0] == stream.place[0]]
            errors += _errors("canonical/chunk", chunks)
    shapes: dict[Place, list[SchemaError]] = {}
    unknown: dict[Place, list[SchemaError]] = {}
    if errors:
        owners = {part.place for rule in load() if rule.by_schema for part in rule.on.select(index)}
        for error in errors:
            if error.keyword == "additionalProperties":
                unknown.setdefault(error.place[:_MESSAGE_DEPTH], []).append(error)
                continue
            place = error.place
            while place and place not in owners:
                place = place[:-1]
            shapes.setdefault(place, []).append(error)
    return SchemaFaults(shapes, unknown)


def _errors(name: str, bodies: list[Body]) -> list[SchemaError]:
    if not bodies:
        return []
    judge = validator(name)
    return [
        error._replace(place=(*body.place, *error.place))
        for body in bodies
        if not judge.is_valid(body.value)
        for error in judge.errors(body.value)
    ]
