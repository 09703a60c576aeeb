"""The engine: one pure function checks every conversation, wherever it came from."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from conformance import profiles
from conformance.documents.pointer import Place, render
from conformance.profiles import UNKNOWN, Profile
from conformance.results import Finding, Level, Outcome, Refusal, Status
from conformance.rules import Fault, Rule, load, select
from conformance.rules.context import Context, SchemaFaults
from conformance.schemas import SchemaError, validator
from conformance.wire.elements import Body
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index
from conformance.wire.views import View

MAX_FINDINGS = 100
"""An outcome holds this many findings of its rule; a last one says how many more there were."""

_MESSAGE_DEPTH = 4
"""The length of the place of a message, `/<exchange>/request/messages/<number>`. Only messages are closed objects."""


def check(
    conversation: Exchange | Sequence[Exchange],
    profile: Profile | str | Path | None = None,
    rules: Sequence[Rule | str] | str | None = None,
    *,
    as_of: str = "",
) -> tuple[Outcome, ...]:
    """Check an exchange, or the exchanges of one session in their order, and return one outcome per rule.

    `profile`: the provider that the severity depends on, as a Profile, a name such as "deepseek", or the path of a
    YAML file; None checks the canonical wire. `rules`: rule ids or globs; every rule by default. Each exchange is
    checked against the claims for its own model on `as_of`, an ISO 8601 day; if that is empty, on its own date; if it
    has none, on the last day on which the profile's sources were read. Outcomes are in the order of the rules. Nothing
    is raised for what the wire holds: a rule that breaks on it has the status `errored`. Raises UnknownName for a
    provider or rule that does not exist, InvalidDocument for a profile that cannot be read, TypeError for what is no
    exchange.

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
    return _check(tuple(exchanges), profiles.resolve_profile(profile), chosen, as_of)


def _rules(given: Sequence[Rule | str] | str | None) -> Sequence[Rule]:
    """Return rules that were given as rules, ids or globs."""
    if given is None:
        return load()
    if isinstance(given, str):
        return select((given,))
    ids = [each for each in given if isinstance(each, str)]
    return (*[each for each in given if isinstance(each, Rule)], *(select(ids) if ids else ()))


def _check(
    conversation: Conversation, profile: Profile | None, rules: Sequence[Rule], as_of: str
) -> tuple[Outcome, ...]:
    claimed = profile is not None
    plan = _plan_of_all(claimed=claimed) if rules is load() else _plan(rules, claimed=claimed)
    index = Index(conversation)
    schema = _schema_faults(index)
    contexts = [
        Context(number, index, {} if profile is None else profile.at(exchange.model, as_of or exchange.date), schema)
        for number, exchange in enumerate(conversation)
    ]
    outcomes = list(plan.idle)
    for view, group in plan.groups:
        elements = view.select(index)
        if elements:
            for position, rule in group:
                outcomes[position] = _run(rule, elements, contexts)
    valid = not schema.shapes and not schema.unknown
    for position, rule in plan.by_schema:
        view = rule.on
        if valid and view.count_valid is not None:
            outcomes[position] = rule.passed(view.count_valid(index))
        else:
            elements = view.select(index)
            outcomes[position] = rule.passed(len(elements)) if valid else _run(rule, elements, contexts)
    return tuple(outcomes)


class _Plan(NamedTuple):
    """A rule set, arranged so that rules with nothing to check cost nothing.

    `idle`: the outcome of each rule if it finds nothing to check, in the order of the rules. `groups`: the rules of
    each view, with their positions. `by_schema`: the rules that only report what the schemas find.
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


def _run(rule: Rule, elements: Sequence[Any], contexts: list[Context]) -> Outcome:
    judge, where = rule.judge, rule.where
    if rule.needs:
        known = {number for number, context in enumerate(contexts) if context.knows(*rule.needs)}
        if not known:
            return rule.unclaimed()
        elements = [element for element in elements if element.place[0] in known]
    faulty: list[tuple[Any, Fault]] = []
    judged = 0
    try:
        for element in elements:
            context = contexts[element.place[0]]
            if where is None or where(element, context):
                judged += 1
                faults = judge(element, context)
                if faults:
                    faulty += [(element, fault) for fault in faults]
    except Exception as error:  # noqa: BLE001 — the one place that turns a broken rule into an outcome
        return Outcome(rule.id, Status.ERRORED, rule.level, judged, reason=f"{type(error).__name__}: {error}")
    if faulty:
        return _failed(rule, judged, faulty, contexts)
    return rule.outcomes.get(judged) or rule.passed(judged)


def _failed(rule: Rule, judged: int, faulty: list[tuple[Any, Fault]], contexts: list[Context]) -> Outcome:
    findings = [_finding(rule, element, fault, contexts[element.place[0]]) for element, fault in faulty[:MAX_FINDINGS]]
    level = max((finding.level for finding in findings), key=lambda each: each.severity)
    if len(faulty) > MAX_FINDINGS:
        more = len(faulty) - MAX_FINDINGS
        more_findings = f"and {more} more findings of this rule"
        findings.append(Finding(findings[-1].at, more_findings, Level.MAY, side=rule.on.side.value))
    return Outcome(rule.id, Status.FAILED, level, judged, tuple(findings))


def _finding(rule: Rule, element: Any, fault: Fault, context: Context) -> Finding:
    place: Place = (*element.place, *fault.at) if fault.place is None else fault.place
    verdict = fault.verdict or context.claims.get(fault.claim or rule.claim or "", UNKNOWN)
    level = _level(fault.level or rule.level, verdict, is_loss=fault.is_loss)
    handling = fault.handling or (verdict.get("refusal") if isinstance(verdict, Mapping) else verdict)
    answered = handling if isinstance(handling, str) and handling != UNKNOWN else ""
    refusal, side = _refusal(verdict, place, fault), rule.on.side.value
    return Finding(render(place), fault.message, level, refusal, side=side, handling=answered)


def _level(canonical: Level, verdict: Any, *, is_loss: bool) -> Level:
    """Return the severity of a finding at a provider.

    What the provider rejects or damages is a MUST, what it accepts is at most a SHOULD, and what is unknown keeps the
    canonical level. So does lost content that is accepted: an answer of 200 makes a rejection impossible, not the loss
    harmless.
    """
    if isinstance(verdict, Mapping):
        verdict = verdict.get("refusal", verdict)
    if verdict == "damaged" or isinstance(verdict, Mapping):
        return Level.MUST
    is_excused = verdict == "ignored" or (verdict == "accepted" and not is_loss)
    return Level.SHOULD if is_excused and canonical is Level.MUST else canonical


class _Values(dict[str, Any]):
    """Values for a message template; a placeholder without a value stays as it is."""

    def __missing__(self, key: str) -> str:
        return "{" + key + "}"


def _refusal(verdict: Any, place: Place, fault: Fault) -> Refusal | None:
    """Return the provider's answer to a fault: the claimed wording, filled with the values of the fault."""
    claimed = verdict.get("refusal", verdict) if isinstance(verdict, Mapping) else None
    if not isinstance(claimed, Mapping) or "status" not in claimed:
        return None
    position = place[3] if place[1:3] == ("request", "messages") and len(place) > 3 else ""
    values = _Values({"index": position, **fault.values})
    texts = {
        name: claimed[name].format_map(values) if isinstance(claimed.get(name), str) else claimed.get(name)
        for name in ("message", "type", "code", "param")
    }
    return Refusal(status=claimed["status"], **texts, body=_filled(claimed.get("body"), values))


def _filled(template: Any, values: _Values) -> Any:
    """Return the body of a claimed refusal; a string that is a single placeholder takes the type of its value."""
    if isinstance(template, str):
        name = template[1:-1]
        return values[name] if template == f"{{{name}}}" and name in values else template.format_map(values)
    if isinstance(template, Mapping):
        return {key: _filled(member, values) for key, member in template.items()}
    return [_filled(item, values) for item in template] if isinstance(template, list) else template


def _schema_faults(index: Index) -> SchemaFaults:
    """Validate the bodies against the canonical schemas and assign each error to the element that contains it."""
    errors = [
        *_errors("canonical/request", index.requests),
        *_errors("canonical/response", index.responses),
    ]
    for stream in index.streams:
        # One call for all chunks costs half as much as a call per chunk.
        if not validator("canonical/stream").is_valid([chunk for chunk in stream.value.chunks if chunk is not None]):
            errors += _errors("canonical/chunk", index.of_exchange(index.chunks, int(stream.place[0])))
    shapes: dict[Place, list[SchemaError]] = {}
    unknown: dict[Place, list[SchemaError]] = {}
    if errors:
        owners = {element.place for rule in load() if rule.by_schema for element in rule.on.select(index)}
        for error in errors:
            if error.keyword == "additionalProperties":
                unknown.setdefault(error.place[:_MESSAGE_DEPTH], []).append(error)
                continue
            place = error.place
            while place and place not in owners:
                place = place[:-1]
            shapes.setdefault(place, []).append(error)
    return SchemaFaults(shapes, unknown)


def _errors(name: str, bodies: Sequence[Body]) -> list[SchemaError]:
    if not bodies:
        return []
    judge = validator(name)
    return [
        error._replace(place=(*body.place, *error.place))
        for body in bodies
        if not judge.is_valid(body.value)
        for error in judge.errors(body.value)
    ]
