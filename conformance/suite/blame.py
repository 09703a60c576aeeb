"""Whose doing a broken rule is: the provider's, or the suite's own.

The suite sends back what replies said as they said it. So a request may break a rule by what a reply put into it, and
then the reply broke it.
"""

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any, Final

from conformance import rules
from conformance.documents.pointer import Place, parse
from conformance.results import Finding, Level, Outcome, Status
from conformance.wire.exchange import Conversation
from conformance.wire.views import Side

SENT_BACK: Final = "sent back as it came, the reply breaks this"
"""How findings begin that are about what a reply put into the next request."""

_ROLES: Final = ("assistant", "model", "tool", "function")
_KINDS: Final = ("reasoning", "thinking", "redacted_thinking", "tool_use", "tool_result", "functionResponse")
_TURNS: Final = ("messages", "input", "contents")


def of_provider(outcomes: Sequence[Outcome], untested: Set[str], conversation: Conversation) -> tuple[Outcome, ...]:
    """Return the outcomes about the provider; the rules in `untested` become untested.

    Outcomes about the client are omitted, unless a request breaks a MUST. By what a reply said, that is the provider's
    failure, and it follows from the provider's own if it has one before. By anything else, it is a bug of the suite,
    and errored.
    """
    kept: list[Outcome] = []
    broken: list[Outcome] = []
    for outcome in outcomes:
        if rules.by_id()[outcome.rule].on.side is Side.PROVIDER:
            kept.append(replace(outcome, status=Status.UNTESTED) if outcome.rule in untested else outcome)
        elif outcome.status is Status.ERRORED or (outcome.status is Status.FAILED and outcome.level is Level.MUST):
            broken.append(outcome)
    first = min((_number(finding) for each in kept for finding in each.findings if _is_must(finding)), default=None)
    for outcome in broken:
        made = _blamed(outcome, conversation, first)
        kept += [] if made is None else [made]
    return tuple(sorted(kept, key=lambda outcome: outcome.rule))


def _blamed(outcome: Outcome, conversation: Conversation, first: int | None) -> Outcome | None:
    """Return an outcome about a request; None if it follows from what a reply breaks itself.

    `first`: the exchange of the first reply that breaks a MUST.
    """
    own = [finding for finding in outcome.findings if not _is_of_reply(finding, conversation)]
    if own or outcome.status is Status.ERRORED:
        reason = outcome.reason or f"the suite's own request breaks it: {own[0].message}"
        return replace(outcome, status=Status.ERRORED, reason=reason)
    findings = [finding for finding in outcome.findings if first is None or _number(finding) <= first]
    if not findings:
        return None
    said = [replace(finding, message=f"{SENT_BACK}: {finding.message}") for finding in findings]
    return replace(outcome, findings=tuple(said))


def _is_must(finding: Finding) -> bool:
    return finding.level is Level.MUST


def _number(finding: Finding) -> int:
    """Return the number of the exchange in which a finding is."""
    return int(parse(finding.at)[0])


def _is_of_reply(finding: Finding, conversation: Conversation) -> bool:
    """Return whether a finding about a request is at what a reply said: the model's turns, and the ids of results."""
    number, side, *inside = parse(finding.at)
    if side != "request" or not int(number):
        return False
    value: Any = conversation[int(number)].as_received.request
    if inside[:1] and inside[0] not in _TURNS:
        return False
    return any(map(_speaks_for_model, _along(value, tuple(inside[1:]), inside[0] if inside else "")))


def _along(body: Any, place: Place, turns: str) -> list[Any]:
    """Return the values on the way to a place in the turns of a request, the turn first."""
    found: list[Any] = []
    value: Any = body.get(turns) if isinstance(body, dict) else None
    for step in place:
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (KeyError, IndexError, TypeError, ValueError):
            break
        found.append(value)
    return found


def _speaks_for_model(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    kind = str(value.get("type", ""))
    is_item = kind in _KINDS or kind.endswith(("_call", "_call_output"))
    holds = any(
        [_speaks_for_model(part) or _KINDS[-1] in part for part in _dicts(value.get("content"), value.get("parts"))]
    )
    return is_item or value.get("role") in _ROLES or holds


def _dicts(*lists: Any) -> list[dict[str, Any]]:
    return [each for given in lists if isinstance(given, list) for each in given if isinstance(each, dict)]
