"""Probes: a request of a scenario with a deviation, what the claims predict, and what the provider does."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance import rules
from conformance.documents.pointer import copied
from conformance.errors import Unusable
from conformance.judge import check, judge_last
from conformance.observations.counts import prompt_tokens
from conformance.profiles import UNKNOWN, Profile
from conformance.results import INCONCLUSIVE, Level, Refusal, Status
from conformance.results.runs import ProbeResult
from conformance.scenarios import Deviation, Probe
from conformance.simulator.refusals import refusals
from conformance.suite import deviations, reasoning_deviations
from conformance.suite.changed_requests import ChangedRequest, Inapplicable
from conformance.suite.nonces import is_paired
from conformance.suite.sent_back import with_change
from conformance.transport.client import Inconclusive, UnusableReply
from conformance.wire.exchange import CUT, Conversation, Exchange
from conformance.wire.index import Index
from conformance.wire.native import CHAT
from conformance.wire.plain import is_event_stream
from conformance.wire.values import as_object
from conformance.wires import as_sent, by_name

ACCEPTED: Final = "accepted"
EXCHANGED: Final = "the answer exchanges the results"
ALREADY: Final = "a reply, sent back as it came, is claimed to have the same answer"
UNSEEN: Final = "the prompt has as many tokens as without it"
_SERVER_ERROR: Final = 500
_CLIENT_ERROR: Final = 400
_OF_REFUSALS: Final = ("error/body-shape", "error/body-is-object", "http/content-type-matches-body")
_TOLERATED: Final = ("accepted", "ignored", "damaged")

CHANGES: Final[Mapping[str, Callable[..., None]]] = {**deviations.CHANGES, **reasoning_deviations.CHANGES}
"""The deviations by name; several can be combined."""

_SAME_VALUE: Final = frozenset({"stored"})
"""Changes that write the same value in another way."""


def run_probe(
    probe: Probe,
    exchanges: Conversation,
    transcript: Sequence[Mapping[str, Any]],
    profile: Profile,
    send: Callable[[Mapping[str, Any]], Exchange],
) -> ProbeResult | None:
    """Send the last of these exchanges again with a deviation and return the result; no exchanges: never reached.

    `transcript` is what the request of that exchange was made from. If the request has nothing to change, nothing is
    sent and None is returned; so it is if the wire cannot show the change.
    """
    rule = probe.breaks or ""
    if not exchanges:
        return ProbeResult(probe.name, probe.title, rule, Status.UNTESTED, "", f"exchange {probe.at} was never reached")
    *before, origin = exchanges
    claims = profile.at(origin.model, "")
    try:
        body = _changed(probe, exchanges, transcript, profile)
    except Inapplicable:
        return None
    expected = expected_answers(body, probe, tuple(before), profile)
    claimed = _expected_text(expected[0]) if expected else UNKNOWN
    if already := _refused_already(expected, exchanges, profile):
        return ProbeResult(probe.name, probe.title, rule, Status.UNTESTED, claimed, already)
    try:
        exchange = _send(body, expected, send)
    except Inconclusive as error:
        return ProbeResult(probe.name, probe.title, rule, Status.UNTESTED, claimed, f"{INCONCLUSIVE}: {error}")
    observed = observed_text(exchange)
    effect = _effect(probe, exchange, origin) if observed == ACCEPTED else None
    if effect is not None and effect.words:
        observed = f"{observed}: {effect.words}"
    if not expected:
        return ProbeResult(probe.name, probe.title, rule, Status.NOT_APPLICABLE, UNKNOWN, observed)
    is_as_claimed = any(_agrees(each, exchange) for each in expected)
    if effect is not None:
        is_as_claimed = claims.get(probe.claims[0]) in effect.claimed
    if broken := _broken_rule(exchange, profile):
        is_as_claimed, observed = False, f"{observed}, which breaks {broken}"
    status = Status.PASSED if is_as_claimed else Status.FAILED
    return ProbeResult(probe.name, probe.title, rule, status, claimed, observed)


def _broken_rule(refusal: Exchange, profile: Profile) -> str:
    """Return the rule about the form of refusals that one breaks at MUST, in words; empty if it breaks none.

    The claim that predicts a refusal may have an object of its own, which is not judged again.
    """
    body = refusal.response
    # A refusal as an event is what some hosts send to those who ask for a stream.
    is_asked = as_object(refusal.request).get("stream") is True
    is_event = type(body) is str and is_asked and is_event_stream(body)
    is_judged = (refusal.status or 0) >= _CLIENT_ERROR and type(body) is not dict and not is_event
    outcomes = check(refusal, profile, _OF_REFUSALS) if is_judged else ()
    broken = [each for each in outcomes if each.status is Status.FAILED and each.level is Level.MUST]
    return f"{broken[0].rule}: {broken[0].findings[0].message}" if broken else ""


def _refused_already(expected: Sequence[Refusal | str], exchanges: Conversation, profile: Profile) -> str:
    """Return why a refusal would say nothing of the change; empty if the request without it is not refused by claims.

    A reply that is sent back as it came may be what the provider is claimed to refuse.
    """
    if not expected or isinstance(expected[0], str):
        return ""
    refused = refusals([*judge_last(exchanges, profile).found()], len(exchanges) - 1)
    return f"{ALREADY}: {_expected_text(refused[0])}" if refused and refused[0] == expected[0] else ""


class _Effect(NamedTuple):
    """What the answer to an accepted request shows of a change: in words if it is bad, and the claims that say so."""

    words: str
    claimed: tuple[Any, ...]


def _effect(probe: Probe, exchange: Exchange, origin: Exchange) -> _Effect | None:
    """Return what an answer shows beside its status; None if nothing that the probe reads."""
    if probe.reads == "pairing":
        return _Effect(EXCHANGED, ("damaged",)) if is_paired(exchange) is False else None
    if probe.reads == "prompt":
        counts = [prompt_tokens(Index((each,))) for each in (exchange, origin)]
        if None not in counts:
            return _Effect(UNSEEN, ("ignored",)) if counts[0] == counts[1] else _Effect("", ("accepted",))
    return None


def with_changes(
    body: Mapping[str, Any],
    changes: Sequence[Deviation],
    transcript: Sequence[Mapping[str, Any]],
    claims: Mapping[str, Any],
    before: Conversation = (),
) -> dict[str, Any]:
    """Return a copy of a request body with the changes applied in order.

    `transcript` is what the body was made from, message by message, with the reasoning that was omitted. `before` are
    the exchanges that led to it. Raises Inapplicable if a change finds nothing to change.
    """
    changed: dict[str, Any] = copied(dict(body))
    for number, change in enumerate(changes):
        unchanged = copied(changed) if number else body
        CHANGES[change.name](ChangedRequest(changed, transcript, claims, before), **change.parameters)
        if changed == unchanged and change.name not in _SAME_VALUE:
            raise Inapplicable
    return changed


def _changed(
    probe: Probe, exchanges: Conversation, transcript: Sequence[Mapping[str, Any]], profile: Profile
) -> Mapping[str, Any]:
    """Return the last request with a deviation.

    Raises Inapplicable if there is nothing to change that the wire could show.
    """
    *before, origin = exchanges
    changed = with_changes(
        origin.request, probe.changes, transcript, profile.at(origin.model, ""), before=tuple(before)
    )
    # Chat completions is sent as it is, so it shows every change, even one that leaves the value the same.
    if probe.changes and profile.wire != CHAT:
        wire = by_name(profile.wire)
        if wire.write(origin.request) == wire.write(changed):
            raise Inapplicable
    return with_change(changed, origin)


def _send(
    body: Mapping[str, Any], expected: Sequence[Refusal | str], send: Callable[[Mapping[str, Any]], Exchange]
) -> Exchange:
    """Return the exchange of a probe.

    An expected status counts even if it is otherwise unusable, such as 500. If a refusal is claimed, a server error is
    no refusal: the probe is sent once more, and a second server error is its answer. Raises Inconclusive for 429, for
    a timeout, and for a server error if no refusal is claimed.
    """
    statuses = [each.status for each in expected if isinstance(each, Refusal)]
    answer = _send_once(body, statuses, send)
    if answer.status is None or answer.status < _SERVER_ERROR or answer.status in statuses:
        return answer
    try:
        return _send_once(body, statuses, send)
    except Unusable:  # A replay has one answer.
        return answer


def _send_once(
    body: Mapping[str, Any], statuses: Sequence[int], send: Callable[[Mapping[str, Any]], Exchange]
) -> Exchange:
    try:
        exchange = send(body)
    except UnusableReply as error:
        answer = error.exchange
        status = 0 if answer is None or answer.status is None else answer.status
        if answer is None or not (status in statuses or (statuses and status >= _SERVER_ERROR)):
            raise
        return answer
    if cut := exchange.headers.get(CUT):
        raise Inconclusive(f"the reply has no whole body, but {cut}", exchange)
    return exchange


def expected_answers(
    body: Mapping[str, Any], probe: Probe, before: Conversation, profile: Profile
) -> tuple[Refusal | str, ...]:
    """Return what the claims predict for a changed request; nothing if they are unknown.

    If the request breaks several rules, each of their refusals is allowed, that of the probe's own rule first.
    """
    changed = as_sent(body, profile.wire)
    found = [*judge_last((*before, changed), profile).found()]
    refused = refusals(found, len(before))
    if refused:
        own = refusals([outcome for outcome in found if outcome.rule == probe.breaks], len(before))
        return (*own, *refused)
    if probe.breaks is None and not probe.claims:
        return (ACCEPTED,)
    return (ACCEPTED,) if _is_tolerated(probe, profile.at(changed.model, "")) else ()


def _is_tolerated(probe: Probe, claims: Mapping[str, Any]) -> bool:
    """Return True if the first known claim about a deviation says that the request is answered."""
    names = probe.claims or rules.select([probe.breaks or ""])[0].claims
    known = [claims[name] for name in names if claims.get(name, UNKNOWN) != UNKNOWN]
    return bool(known) and known[0] in _TOLERATED


def _agrees(expected: Refusal | str, exchange: Exchange) -> bool:
    if isinstance(expected, str):
        return exchange.status == 200
    if exchange.status != expected.status:
        return False
    return expected.message is None or expected.message in error_text(exchange.response)


def _expected_text(expected: Refusal | str) -> str:
    if isinstance(expected, str):
        return expected
    return f"refused with {expected.status}" + (f": {expected.message}" if expected.message else "")


def observed_text(exchange: Exchange) -> str:
    """Return how a request was answered: accepted, or refused with a status and its words."""
    if exchange.status == 200:
        return ACCEPTED
    return f"refused with {exchange.status}: {error_text(exchange.response)}"[:500]


def error_text(body: Any) -> str:
    """Return the message of an error body of any shape."""
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error
    return str(error)
