"""One real exchange judged: what would have been predicted of its request, and which claims its reply bears out."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, Final, NamedTuple

from conformance import profiles
from conformance.engine import check
from conformance.evidence.answers import Answer, answer_of, cause_of, is_same, refusals_confirmed
from conformance.evidence.watch import Watch, changed, deviations, kinds, watching
from conformance.formats import Input
from conformance.profiles import UNKNOWN, Profile
from conformance.results import Outcome, Refusal, Status
from conformance.rules import Rule, load
from conformance.simulator.refusals import first_refusal
from conformance.wire.exchange import Exchange
from conformance.wire.views import Side


class Verdict(StrEnum):
    """What became of one recorded request.

    `unplayed`: request or answer was not kept. `apart`: refused for a cause that is not the wire.
    """

    ACCEPTED = "accepted"
    REFUSED = "refused"
    FALSE = "falsely refused"
    MISSED = "refusal missed"
    OTHERWISE = "refused in other words"
    APART = "apart"
    UNPLAYED = "unplayed"


BAD: Final = (Verdict.FALSE, Verdict.MISSED, Verdict.OTHERWISE)
"""The verdicts that tell of a fault in a profile or a rule."""


class Fault(NamedTuple):
    """A finding on a real reply: the rule that made it, and the known claims that the rule asked for."""

    rule: str
    at: str
    message: str
    claims: tuple[str, ...] = ()


class Seen(NamedTuple):
    """One recorded exchange, judged; plain data, to cross processes.

    `provider` is the profile's name where there is one, else the recording's own word. `digest` tells the exchange
    wherever it is kept, `ref` is its path and line here. `cause` says why a refusal stands apart. `rule`, `claim` and
    `at` lead to the predicted refusal, `expected` and `got` are it and the real answer in words. `confirmed`: the
    claims that hold here; `contradicted`: those that do not. `answered`: deviations of which nothing is claimed, and
    which passed.
    """

    provider: str
    profile: str
    digest: str
    ref: str
    verdict: Verdict
    cause: str = ""
    claim: str = ""
    rule: str = ""
    at: str = ""
    expected: str = ""
    got: str = ""
    confirmed: frozenset[str] = frozenset()
    contradicted: frozenset[str] = frozenset()
    answered: frozenset[str] = frozenset()
    faults: tuple[Fault, ...] = ()
    errored: tuple[str, ...] = ()


def observe(given: Input, provider: str = "") -> list[Seen]:
    """Judge each exchange of an input by a provider's profile; without one, by that of the provider it tells of."""
    name = provider or told(given)
    if name is not None:
        return judged(given, _profile(name))
    named = given.provider or "untold"
    digests = map(_digest, given.conversation)
    return [Seen(named, "", digest, ref, Verdict.UNPLAYED) for digest, ref in zip(digests, _refs(given), strict=True)]


def judged(given: Input, profile: Profile) -> list[Seen]:
    """Judge each exchange of an input by a profile, as of its own model and day."""
    exchanges = given.conversation
    watch = Watch()
    outcomes = check(exchanges, changed(profile, watch.claims), watching(watch))
    probed = deviations(exchanges, profile)
    seen = []
    for number, (exchange, ref) in enumerate(zip(exchanges, _refs(given), strict=True)):
        claims = profile.at(exchange.model, exchange.date)
        first = Seen(profile.name, profile.name, _digest(exchange), ref, Verdict.UNPLAYED)
        asked = _request(first, outcomes, probed, number, _Real(exchange, answer_of(exchange), claims))
        seen.append(_reply(asked, outcomes, watch, number, claims))
    return seen


def told(given: Input) -> str | None:
    """Return the profile of the provider that an input tells of, by name or else by host; None where it has none."""
    if given.provider in _known():
        return given.provider
    urls = [exchange.url for exchange in given.conversation if exchange.url]
    if not urls:
        return None
    host = urls[0].partition("://")[2].partition("/")[0] or urls[0].partition("/")[0]
    return _by_host(host)


class _Real(NamedTuple):
    """One exchange, what the provider did, and what was claimed of it then."""

    exchange: Exchange
    answer: Answer | None
    claims: Mapping[str, Any]


def _request(
    seen: Seen, outcomes: Sequence[Outcome], probed: Mapping[tuple[str, str, str], str], number: int, real: _Real
) -> Seen:
    """Hold what is predicted of a request against what the provider answered."""
    answer, claims = real.answer, real.claims
    if answer is None:
        return seen
    if answer.refused:
        seen = seen._replace(confirmed=refusals_confirmed(claims, answer, kinds()), got=answer.words)
    if not isinstance(real.exchange.request, dict):
        return seen
    predicted = first_refusal(outcomes, number)
    if predicted is not None:
        rule, at, claim = _origin(predicted, outcomes, probed)
        expected = f"{predicted.status} {predicted.message or ''}".strip()
        seen = seen._replace(rule=rule, at=at, claim=claim, expected=expected)
    if answer.refused:
        return _refused(seen, predicted, answer, claims)
    met = {key: claim for key, claim in probed.items() if key[1].startswith(f"/{number}/")}
    refused = {met[key] for key in _refusing(outcomes) if key in met}
    borne = {name: claims.get(name, UNKNOWN) for name in met.values() if name not in refused}
    answered = frozenset(name for name, value in borne.items() if value == UNKNOWN)
    passed = frozenset(name for name, value in borne.items() if value not in (UNKNOWN, "damaged"))
    verdict = Verdict.ACCEPTED if predicted is None else Verdict.FALSE
    return seen._replace(verdict=verdict, confirmed=passed, contradicted=frozenset(refused), answered=answered)


def _refused(seen: Seen, predicted: Refusal | None, answer: Answer, claims: Mapping[str, Any]) -> Seen:
    if predicted is not None and is_same(predicted, claims.get(seen.claim), answer):
        known = frozenset((seen.claim,)) if seen.claim else frozenset()
        return seen._replace(verdict=Verdict.REFUSED, confirmed=seen.confirmed | known)
    cause = cause_of(answer)
    if cause:
        return seen._replace(verdict=Verdict.APART, cause=cause)
    return seen._replace(verdict=Verdict.MISSED if predicted is None else Verdict.OTHERWISE)


def _refusing(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, str, str]]:
    """Yield rule, place and message of the findings that are refused."""
    for outcome in outcomes:
        for finding in outcome.findings:
            if finding.refusal is not None:
                yield outcome.rule, finding.at, finding.message


def _reply(seen: Seen, outcomes: Iterable[Outcome], watch: Watch, number: int, claims: Mapping[str, Any]) -> Seen:
    """Add what the rules that judge the provider found, and which claims they asked for on the way."""
    here = f"/{number}"
    faults, errored = [], []
    confirmed: set[str] = set()
    contradicted: set[str] = set()
    rules = _rules()
    for outcome in outcomes:
        if outcome.status is Status.ERRORED:
            errored.append(f"{outcome.rule}: {outcome.reason}")
        if rules[outcome.rule].on.side is not Side.PROVIDER:
            continue
        asked = watch.asked(outcome.rule, number)
        known = {name for name in asked if claims.get(name, UNKNOWN) != UNKNOWN}
        found = [each for each in outcome.findings if each.at == here or each.at.startswith(f"{here}/")]
        # A rule that takes a breach less seriously than it could does so because a claim tells of it.
        told_of = [each for each in found if each.level.weight < rules[outcome.rule].level.weight]
        untold = [each for each in found if each not in told_of]
        names = tuple(sorted(known))
        faults += [Fault(outcome.rule, each.at, each.message, names) for each in untold]
        if untold:
            contradicted |= known
        elif watch.judged(outcome.rule, number):
            confirmed |= known
    return seen._replace(
        confirmed=(seen.confirmed | confirmed) - contradicted - seen.contradicted,
        contradicted=seen.contradicted | contradicted,
        faults=tuple(faults),
        errored=tuple(errored),
    )


def _origin(
    predicted: Refusal, outcomes: Iterable[Outcome], probed: Mapping[tuple[str, str, str], str]
) -> tuple[str, str, str]:
    """Return where a predicted refusal comes from: its rule, its place, and its claim, empty where none is told."""
    for outcome in outcomes:
        for finding in outcome.findings:
            if finding.refusal is predicted:
                return outcome.rule, finding.at, probed.get((outcome.rule, finding.at, finding.message), "")
    return "", "", ""


def _digest(exchange: Exchange) -> str:
    kept = [exchange.request, exchange.response, exchange.status]
    # The standard library, because a text of a recording may hold half a pair of surrogates.
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:12]


def _refs(given: Input) -> list[str]:
    known: tuple[int | None, ...] = given.lines
    lines = known if len(known) == len(given.conversation) else (given.line,) * len(given.conversation)
    return [given.path if line is None else f"{given.path}:{line}" for line in lines]


@cache
def _rules() -> Mapping[str, Rule]:
    return {rule.id: rule for rule in load()}


@cache
def _known() -> frozenset[str]:
    return frozenset(profiles.names())


@cache
def _profile(name: str) -> Profile:
    return profiles.load(name)


@cache
def _by_host(host: str) -> str | None:
    return profiles.by_host(host)
