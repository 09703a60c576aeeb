"""Runs: every scenario and every single request goes through a gateway, plain and streamed, and is compared."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Final

import httpx

from conformance import scenarios
from conformance.errors import UnknownName
from conformance.fidelity import BACK_REQUEST_VALID as SENT
from conformance.fidelity import GATEWAY_RULES, differences, outcomes
from conformance.fidelity.blame import Traced, trace
from conformance.fidelity.pairing import match
from conformance.fidelity.passages import GATEWAY, Pair
from conformance.fidelity.spoken import Kind, Spoken
from conformance.gateways import direct, playing, single
from conformance.gateways.nonces import Nonces, planted
from conformance.gateways.playing import Alter, Front, PlayedFront
from conformance.gateways.single import Single
from conformance.gateways.upstream import Direct, Upstream
from conformance.profiles import Profile
from conformance.results import NOT_PLAYED, Evidence, Finding, Level, Outcome, Status
from conformance.results.runs import Case
from conformance.scenarios import Scenario
from conformance.simulator.sessions import ScenarioSession
from conformance.transport.client import Client
from conformance.wire.exchange import Exchange
from conformance.wire.native import OWN
from conformance.wires import by_name

PREFIX: Final = "single/"
"""How the names of single requests begin."""

REACHES: Final = "gateway/user-texts-kept"
"""The fact that every case tests."""

_WAIT: Final = 5.0
"""Seconds that the provider waits for a delta to arrive, or for a client that has gone."""

_STRICT_NOTE: Final = "the provider refused a request, and the case was played again without refusals"


_RANK: Final = (Status.ERRORED, Status.FAILED, Status.UNTESTED, Status.PASSED, Status.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True)
class GatewayCase:
    """One case: its name, its variant, and what is played; `scenario` is None for a single request."""

    name: str
    variant: str
    scenario: Scenario | None = None
    request: Single | None = None


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A case that was played: its outcomes, the pairs behind them, and what the rules found with who caused it."""

    case: Case
    pairs: tuple[Pair, ...] = ()
    traced: tuple[Traced, ...] = ()
    client_losses: tuple[Any, ...] = ()


def cases(front: str, back: Profile, model: str, only: Sequence[str] = ()) -> tuple[GatewayCase, ...]:
    """Return the cases that a front and a back can have; `only` are globs of their names."""
    found = list(_every(front, back, model))
    for glob in only:
        if not any([fnmatchcase(each.name, glob) for each in found]):
            raise UnknownName("case", glob, {each.name for each in found})
    return tuple([each for each in found if not only or any([fnmatchcase(each.name, glob) for glob in only])])


def _every(front: str, back: Profile, model: str) -> Iterator[GatewayCase]:
    claims = back.at(model)
    for name in scenarios.names():
        scenario = scenarios.load(name)
        is_possible = {front, back.wire} <= {*scenario.wires} and scenario.unmet(claims) is None
        # The client before a gateway sends whole histories: it leaves nothing to a server.
        if is_possible and not scenario.breaks and not scenario.state:
            for variant in scenario.variants:
                yield GatewayCase(name, variant, scenario)
    for request in single.CASES:
        if request.native is None or front in request.native:
            for variant in request.variants:
                yield GatewayCase(f"{PREFIX}{request.name}", variant, None, request)


def play(case: GatewayCase, front: Front, upstream: Upstream, alter: Alter = list) -> CaseResult:
    """Play a case through a gateway, and compare what passed."""
    if case.scenario is None:
        return _judged(case, *_play_single(case, front, upstream, alter), upstream.profile)
    played, session = _play_scenario(case, front, upstream, alter, strict=True)
    result = _judged(case, played, session.exchanges, {}, upstream.profile)
    if not session.refusals:
        return result
    refusal = f"{session.refusals[0].rule}: {session.refusals[0].refusal.message or session.refusals[0].refusal.status}"
    played, again = _play_scenario(case, front, upstream, alter, strict=False, take=1)
    further = _judged(case, played, again.exchanges, {}, upstream.profile, first=len(result.pairs))
    return _together(result, further, f"{_STRICT_NOTE} ({refusal})")


def _play_scenario(
    case: GatewayCase, front: Front, upstream: Upstream, alter: Alter, *, strict: bool, take: int = 0
) -> tuple[PlayedFront, ScenarioSession]:
    if case.scenario is None:
        raise AssertionError
    nonces = Nonces(f"{front.base_url} {case.name} {case.variant} {take}")
    scenario = planted(case.scenario, nonces)
    session = upstream.open(nonces.first, scenario, case.variant, strict=strict)
    more = playing.thinking(front.wire) if any([turn.thinks for turn in scenario.turns]) else {}
    return playing.converse(scenario, case.variant, front, nonces, alter, more), session


def _play_single(
    case: GatewayCase, front: Front, upstream: Upstream, alter: Alter
) -> tuple[PlayedFront, Sequence[Exchange], Mapping[str, bool]]:
    request = case.request
    if request is None:
        raise AssertionError
    nonces = Nonces(f"{front.base_url} {case.name} {case.variant}")
    message = request.message(nonces)
    reply = direct.body(message, request.ends, request.usage)
    pace = direct.PacedStream(_WAIT)
    makes = {"pace": pace.waiting, "leave": pace.endless}
    make = makes.get(request.watched, request.make)
    opened: Direct = upstream.open_direct(nonces.first, lambda asked, _number: make(asked, reply))
    messages = [*(request.history(nonces) if request.history else ())]
    messages.append({"role": "user", "content": f"What is the weather in Oslo ({nonces.first})?"})
    body = playing.request(front, alter(messages), case.variant, request.more)
    body = _with_native(body, (request.native or {}).get(front.wire, {}), front.wire)
    played, seen = PlayedFront(), {}
    if request.watched in ("pace", "leave"):
        seen = _watch(request.watched, front, body, pace, played)
    else:
        with Client(front.endpoint) as client:
            exchange = playing.send(client, body, played)
        if request.watched == "comments" and exchange is not None and (exchange.status or 0) < 400:
            seen = {"comments-harmless": str(message["content"]) in _text(exchange)}
    return played, opened.exchanges, seen


def _text(exchange: Exchange) -> str:
    return "".join([str(each.value) for each in Spoken(exchange, "response").of(Kind.ANSWER)])


def _with_native(body: dict[str, Any], further: Mapping[str, Any], wire: str) -> dict[str, Any]:
    """Return a request with members of its own wire."""
    if not further:
        return body
    native = by_name(wire).write(body)
    return {**body, OWN: _merged(native, further)}


def _merged(value: Mapping[str, Any], further: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(value)
    for key, each in further.items():
        made[key] = _merged(made[key], each) if isinstance(made.get(key), dict) and isinstance(each, dict) else each
    return made


def _watch(
    kind: str, front: Front, body: dict[str, Any], pace: direct.PacedStream, played: PlayedFront
) -> dict[str, bool]:
    """Send a streamed request and watch when its parts arrive, or leave after the first ones."""
    wire = by_name(front.wire)
    native, url = wire.write(body), front.base_url.rstrip("/") + wire.path(body)
    headers = {**wire.headers(front.key), **dict(front.headers)}
    received = b""
    status, kept = None, {}
    try:
        with (
            httpx.Client(timeout=front.seconds, trust_env=False) as client,
            client.stream("POST", url, json=native, headers=headers) as reply,
        ):
            status, kept = reply.status_code, dict(reply.headers)
            for chunk in reply.iter_bytes():
                received += chunk
                if b"rather" in received or b"long" in received:
                    pace.seen.set()
                    if kind == "leave":
                        break
    except httpx.HTTPError as error:
        played.note = f"ended: {error}"
    text = received.decode("utf-8", "replace")
    streamed = "event-stream" in kept.get("content-type", "")
    exchange = Exchange(native, text if streamed else received, status, streamed, {}, url, front.model)
    played.exchanges.append(wire.translate_one(exchange))
    if not pace.seen.is_set() and status != 200:
        return {}
    if kind == "pace":
        return {"deltas-in-time": pace.in_time}
    return {"disconnects-passed-on": pace.let_go.wait(_WAIT)} if pace.seen.is_set() else {}


def _judged(
    case: GatewayCase,
    played: PlayedFront,
    backs: Sequence[Exchange],
    seen: Mapping[str, bool],
    profile: Profile,
    first: int = 0,
) -> CaseResult:
    """Return what a case shows; its pairs have numbers from `first` on."""
    matched = match(played.exchanges, backs)
    pairs = tuple([replace(each, number=first + each.number, seen=seen) for each in matched.pairs])
    note = "; ".join(filter(None, [played.note, *_unmatched(matched.unanswered, matched.strays)]))
    evidence = Evidence.SIMULATED
    if not pairs:
        return CaseResult(Case(case.name, case.variant, evidence, note=note or f"{NOT_PLAYED}: nothing was received"))
    if not any([each.backs for each in pairs]):
        # Nothing was put to the test: a gateway that refuses everything keeps nothing.
        reason = note or "no request of the client reached the provider"
        untested = Outcome(REACHES, Status.UNTESTED, Level.MUST, reason=reason)
        return CaseResult(Case(case.name, case.variant, evidence, (untested,), note=note), pairs)
    judged = differences(pairs, profile)
    traced = trace(pairs, profile)
    if case.scenario is None:
        # The replies are not those of the provider's simulator, so only requests are held against its claims.
        traced = tuple([each for each in traced if each.finding.at.split("/")[2:4] == list(GATEWAY_RULES[SENT])])
    found = [*outcomes(judged, pairs), *_of_rules(traced, pairs)]
    clients = tuple([each for each in judged.differences if each.by != GATEWAY])
    kept = Case(case.name, case.variant, evidence, tuple(sorted(found, key=lambda each: each.rule)), note=note)
    return CaseResult(kept, pairs, traced, clients)


def _unmatched(unanswered: Sequence[Pair], strays: Sequence[Exchange]) -> Iterator[str]:
    if unanswered:
        statuses = sorted({str(each.front.status) for each in unanswered})
        yield f"{len(unanswered)} of the client's requests did not reach the provider (HTTP {', '.join(statuses)})"
    if strays:
        yield f"{len(strays)} requests to the provider match none of the client's"


def _of_rules(traced: Sequence[Traced], pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """Yield the two facts about what the gateway itself writes: its requests and its replies."""
    for name, end in GATEWAY_RULES.items():
        own = [each for each in traced if each.by == GATEWAY and _is_at(each.finding.at, end)]
        must = [each for each in own if each.level is Level.MUST]
        findings = tuple(
            [
                Finding(
                    each.at,
                    f"{each.rule}: {each.finding.message}; after it: {each.finding.at}",
                    each.level,
                    side=GATEWAY,
                )
                for each in must
            ]
        )
        status = Status.FAILED if findings else Status.PASSED
        yield Outcome(name, status, Level.MUST, len(pairs), findings)


def _is_at(pointer: str, end: tuple[str, str]) -> bool:
    """Return whether a place is in one body of one end; the status and the headers kept are those of the reply."""
    _, _, side, inside, *_ = [*pointer.split("/"), "", ""]
    return (side, "request" if inside == "request" else "response") == end


def _together(strict: CaseResult, further: CaseResult, note: str) -> CaseResult:
    """Return what a case showed that the provider refused, with what it showed without refusals."""
    found: dict[str, Outcome] = {each.rule: each for each in further.case.outcomes}
    for each in strict.case.outcomes:
        other = found.get(each.rule)
        if (
            other is None
            or (each.status is Status.FAILED and other.status is not Status.FAILED)
            or (each.status is Status.PASSED and other.status is Status.NOT_APPLICABLE)
        ):
            found[each.rule] = each
    case = replace(
        further.case,
        outcomes=tuple([found[name] for name in sorted(found)]),
        note="; ".join(filter(None, [note, further.case.note])),
    )
    return replace(further, case=case, pairs=(*strict.pairs, *further.pairs))
