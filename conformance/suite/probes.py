"""Probes: a request of a scenario with a deviation, what the claims say of it, and what the provider did."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from conformance import rules
from conformance.engine import check
from conformance.profiles import UNKNOWN, Profile
from conformance.results import ProbeResult, Refusal, Status
from conformance.scenarios import Probe
from conformance.simulator.refusals import refusals
from conformance.suite.deviations import changed
from conformance.suite.history import Inapplicable
from conformance.transport.client import Unjudged
from conformance.wire.exchange import Conversation, Exchange

ACCEPTED: Final = "accepted"
_BORNE: Final = ("accepted", "ignored", "damaged")


def probed(
    probe: Probe,
    exchanges: Conversation,
    transcript: Sequence[Mapping[str, Any]],
    profile: Profile,
    send: Callable[[Mapping[str, Any]], Exchange],
) -> ProbeResult | None:
    """Return what became of a probe of the last of these exchanges; none were made where it was never reached.

    `transcript` is what the request of that exchange was made from. Where it holds nothing to change, nothing is sent
    and nothing is returned.
    """
    rule = probe.breaks or ""
    if not exchanges:
        return ProbeResult(probe.name, probe.title, rule, Status.UNTESTED, "", f"exchange {probe.at} was never reached")
    *before, origin = exchanges
    claims = profile.at(origin.model, "")
    try:
        body = changed(origin.request, probe.changes, transcript, claims)
    except Inapplicable:
        return None
    expected = predicted(body, probe, tuple(before), profile)
    exchange = _answer(body, expected, send)
    observed = _observed(exchange)
    if not expected:
        return ProbeResult(probe.name, probe.title, rule, Status.NOT_APPLICABLE, UNKNOWN, observed)
    status = Status.PASSED if any(_agrees(each, exchange) for each in expected) else Status.FAILED
    return ProbeResult(probe.name, probe.title, rule, status, _words(expected[0]), observed)


def _answer(
    body: Mapping[str, Any], expected: Sequence[Refusal | str], send: Callable[[Mapping[str, Any]], Exchange]
) -> Exchange:
    """Return the exchange of a probe; a status that says nothing of a request elsewhere may be the one expected."""
    try:
        return send(body)
    except Unjudged as error:
        statuses = [each.status for each in expected if isinstance(each, Refusal)]
        if error.exchange is None or error.exchange.status not in statuses:
            raise
        return error.exchange


def predicted(
    body: Mapping[str, Any], probe: Probe, before: Conversation, profile: Profile
) -> tuple[Refusal | str, ...]:
    """Return what the claims say that a provider does with a changed request; nothing where they say nothing.

    Where it breaks several rules, each refusal is an answer that the claims allow, that of the probe's own rule first.
    """
    asked = Exchange.of_plain(request=body, model=str(body.get("model", "")))
    outcomes = check((*before, asked), profile)
    refused = refusals(outcomes, len(before))
    if refused:
        own = refusals([outcome for outcome in outcomes if outcome.rule == probe.breaks], len(before))
        return (*own, *refused)
    if probe.breaks is None:
        return (ACCEPTED,)
    return (ACCEPTED,) if _borne(probe, profile.at(asked.model, "")) else ()


def _borne(probe: Probe, claims: Mapping[str, Any]) -> bool:
    """Say whether the first known of the claims about a deviation is that it is answered all the same."""
    (rule,) = rules.select([probe.breaks or ""])
    names = probe.claims or rule.claims
    known = [claims[name] for name in names if claims.get(name, UNKNOWN) != UNKNOWN]
    return bool(known) and known[0] in _BORNE


def _agrees(expected: Refusal | str, exchange: Exchange) -> bool:
    if isinstance(expected, str):
        return exchange.status == 200
    if exchange.status != expected.status:
        return False
    return expected.message is None or expected.message in _error_text(exchange.response)


def _words(expected: Refusal | str) -> str:
    if isinstance(expected, str):
        return expected
    return f"refused with {expected.status}" + (f": {expected.message}" if expected.message else "")


def _observed(exchange: Exchange) -> str:
    if exchange.status == 200:
        return ACCEPTED
    return f"refused with {exchange.status}: {_error_text(exchange.response)}"[:500]


def _error_text(body: Any) -> str:
    """Return the words of an error body, whatever its shape."""
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error
    return str(error)
