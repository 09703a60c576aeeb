"""The engine: one pure function judges every conversation, wherever it came from."""

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.profiles import Profile
from conformance.results import Finding, Level, Outcome, Refusal, Status
from conformance.rules import Fault, Rule, load
from conformance.rules._context import UNKNOWN, Context, SchemaFaults
from conformance.schemas import SchemaError, validator
from conformance.wire.exchange import Conversation
from conformance.wire.index import Body, Index
from conformance.wire.pointer import Place, render

MAX_FINDINGS = 100
"""How many findings of one rule an outcome holds; the last one says how many more there were."""

_MESSAGE_DEPTH = 4
"""Messages stand at `/<exchange>/request/messages/<number>`, the only objects that the canonical wire closes."""


def check(
    conversation: Conversation, profile: Profile | None = None, rules: Sequence[Rule] | None = None
) -> tuple[Outcome, ...]:
    """Judge a conversation by a profile and a rule set (every rule by default); one outcome a rule, in their order.

    Each exchange is judged by the claims of its own model and date. Nothing is raised for what the wire holds:
    a rule that breaks on it is an `errored` outcome.
    """
    chosen = load() if rules is None else rules
    index = Index(conversation)
    schema = _schema_faults(index)
    contexts = [
        Context(exchange, index, {} if profile is None else profile.at(exchange.model, exchange.date), schema)
        for exchange in conversation
    ]
    claimed = profile is not None
    return tuple([_judge(rule, index, contexts, schema, claimed=claimed) for rule in chosen])


def _judge(rule: Rule, index: Index, contexts: list[Context], schema: SchemaFaults, *, claimed: bool) -> Outcome:
    view, judge, where, needs = rule.on, rule.judge, rule.where, rule.needs
    if rule.by_schema and not schema.shapes and not schema.unknown:
        return rule.passed(len(view.select(index)) if view.count is None else view.count(index))
    if needs:
        if not claimed:
            return rule.unclaimed()
        known = {number for number, context in enumerate(contexts) if context.knows(needs)}
        if not known:
            return rule.unclaimed()
        parts = [part for part in view.select(index) if part.place[0] in known]
    else:
        parts = view.select(index)
    faulty: list[tuple[Any, Fault]] = []
    judged = 0
    try:
        for part in parts:
            context = contexts[part.place[0]]
            if where is not None and not where(part, context):
                continue
            judged += 1
            faults = judge(part, context)
            if faults:
                faulty += [(part, fault) for fault in faults]
    except Exception as error:  # noqa: BLE001 — the one place where a broken rule becomes an outcome
        return Outcome(rule.id, Status.ERRORED, rule.level, judged, reason=f"{type(error).__name__}: {error}")
    return _failed(rule, judged, faulty, contexts) if faulty else rule.passed(judged)


def _failed(rule: Rule, judged: int, faulty: list[tuple[Any, Fault]], contexts: list[Context]) -> Outcome:
    findings = [_finding(rule, part, fault, contexts[part.place[0]]) for part, fault in faulty[:MAX_FINDINGS]]
    level = max((finding.level for finding in findings), key=lambda each: each.weight)
    if len(faulty) > MAX_FINDINGS:
        more = len(faulty) - MAX_FINDINGS
        findings.append(Finding(findings[-1].at, f"and {more} more findings of this rule", Level.MAY))
    return Outcome(rule.id, Status.FAILED, level, judged, tuple(findings))


def _finding(rule: Rule, part: Any, fault: Fault, context: Context) -> Finding:
    place: Place = (*part.place, *fault.at) if fault.place is None else fault.place
    verdict = context.claims.get(fault.claim or rule.refused or "", UNKNOWN)
    return Finding(render(place), fault.message, _level(rule.level, verdict), _refusal(verdict, place, fault))


def _level(canonical: Level, verdict: Any) -> Level:
    """Return how much a breach weighs at a provider.

    What it is known to refuse or to damage is MUST, what it is known to bear is SHOULD at most, and what is not known
    keeps the canonical level.
    """
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
    if claimed is None or "status" not in claimed:
        return None
    position = place[3] if place[1:3] == ("request", "messages") and len(place) > 3 else ""
    values = _Values(index=position, **fault.values)
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
        judge = validator("canonical/chunk")
        if not all(map(judge.is_valid, stream.value.chunks)):
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
