"""What a strict provider refuses: each MUST of the client in the request at hand."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import orjson

from conformance.documents.json_scan import end_of
from conformance.documents.pointer import parse, render, resolve
from conformance.judge import judge_last
from conformance.profiles import Profile
from conformance.results import Finding, Level, Outcome, Refusal
from conformance.rules import Rule, load
from conformance.simulator.refusals import completed, position
from conformance.wire.exchange import Conversation
from conformance.wire.views import Side
from conformance.wires import NATIVE

_TRACE: Final = "00000000000000000000000000000000"
"""The id that a refusal gives the request, if it gives one."""


class RuleViolation(NamedTuple):
    """A rule that a request breaks, and the refusal that the profile claims; None if no claim gives one."""

    rule: str
    finding: Finding
    refusal: Refusal | None


def first_violation(conversation: Conversation, profile: Profile) -> RuleViolation | None:
    """Return the first fault for which a strict provider refuses the last request of a conversation; None if none.

    First come the faults whose refusal the profile claims. Any other MUST counts too, unless the profile claims that
    the provider answers all the same, or only the earlier exchanges show it: a provider does not remember them.
    """
    *before, last = conversation
    found = [*judge_last(conversation, profile, rules_of_clients()).found()]
    violation = violation_in(found, len(before))
    if violation is None or violation.refusal is not None or not before:
        return violation
    return _first([*judge_last((last,), profile, rules_of_clients()).found()], 0, claimed=False)


def violation_in(outcomes: Sequence[Outcome], exchange: int) -> RuleViolation | None:
    """Return the first fault of the request of an exchange; one whose refusal the profile claims comes first."""
    claimed = _first(outcomes, exchange, claimed=True)
    return _first(outcomes, exchange, claimed=False) if claimed is None else claimed


@cache
def rules_of_clients() -> tuple[Rule, ...]:
    """Return the rules about what clients send."""
    return tuple([rule for rule in load() if rule.on.side is Side.CLIENT])


def _first(outcomes: Sequence[Outcome], exchange: int, *, claimed: bool) -> RuleViolation | None:
    """Return the fault with the first place; of several there, that of a rule of the wire itself if there is one."""
    start = f"/{exchange}/request"
    found = [
        (
            (position(finding.at), outcome.rule.partition("/")[0] not in NATIVE),
            RuleViolation(outcome.rule, finding, finding.refusal),
        )
        for outcome in outcomes
        for finding in outcome.findings
        if f"{finding.at}/".startswith(f"{start}/")
        and finding.level is Level.MUST
        and (finding.refusal is not None) is claimed
        and not finding.handling
    ]
    return min(found, key=lambda entry: entry[0])[1] if found else None


def worded(refusal: Refusal, finding: Finding, body: Mapping[str, Any], raw: bytes | None) -> Refusal:
    """Return a refusal whose placeholders have values: the fault's position in the text of the request, and a trace."""
    template, inside = repr(refusal), "/" + finding.at.partition("/request")[2].removeprefix("/")
    values: dict[str, object] = {"reason": finding.message, "trace": _TRACE, "model": body.get("model")}
    values["value"] = values["id"] = _at(body, inside)
    tokens = parse(inside)
    is_message = len(tokens) > 1 and tokens[0] == "messages"
    if "{line}" in template or "{column}" in template:
        text = (orjson.dumps(body) if raw is None else raw).decode()
        values["line"], values["column"] = end_of(text, render(tokens[:2]) if is_message else inside)
    if tokens[2:3] == ("content",) and len(tokens) > 3:
        values["position"] = tokens[3]
    if is_message:
        values |= _around(body["messages"], int(tokens[1]), in_brackets="[{other}]" in template)
    return completed(refusal, values)


def _around(messages: Sequence[Any], number: int, *, in_brackets: bool) -> dict[str, object]:
    """Return the ids of the calls that a message belongs to, and its rival: a message's number in brackets, or a role.

    The rival is the first message with the same `tool_call_id`, or the role of the message before.
    """
    earlier = [message if isinstance(message, dict) else {} for message in messages[: number + 1]]
    calls: Any = next((message["tool_calls"] for message in reversed(earlier) if message.get("tool_calls")), [])
    ids = [call.get("id") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    identity = earlier[-1].get("tool_call_id")
    same = [position for position, message in enumerate(earlier) if message.get("tool_call_id") == identity]
    role = earlier[number - 1].get("role") if number else None
    return {"ids": ", ".join(map(str, ids)), "other": same[0] if in_brackets else role}


def _at(value: Any, pointer: str) -> Any:
    """Return the value at a pointer, None if there is none."""
    try:
        return resolve(value, pointer)
    except LookupError:
        return None
