"""The user's side of a scenario, played against a provider; what comes back is judged by the one rule set."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from conformance import egress, ingress, rules
from conformance.engine import check
from conformance.harness.changes import changed
from conformance.profiles import Profile
from conformance.results import NOTHING_TO_JUDGE, Case, Evidence, Level, Outcome, Probed, Refusal, Status
from conformance.scenarios import Probe, Scenario, Turn, tool_definitions
from conformance.transport.client import SIMULATOR
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index
from conformance.wire.views import Side

Send: TypeAlias = Callable[[Mapping[str, Any]], Exchange]

NO_RESULT = "There is nothing to say about that."
"""The tool message for a call that the script has no result for."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The model of a provider that is put to the test, and how to reach it."""

    profile: Profile
    model: str
    send: Send
    evidence: Evidence

    @property
    def claims(self) -> Mapping[str, Any]:
        """Return what the profile claims of this model today."""
        return self.profile.at(self.model, "")


@dataclass(slots=True)
class _Play:
    """A scenario under way: the canonical transcript, the bodies that were sent, the exchanges that came of them."""

    transcript: list[dict[str, Any]]
    bodies: list[dict[str, Any]] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    note: str = ""


def play(scenario: Scenario, variant: str, subject: Subject) -> Case:
    """Play a scenario and its probes, and judge both; nothing that a provider does raises.

    A scenario whose needs the claims rule out is not played: its case says which, and holds no outcome.
    """
    unmet = scenario.unmet(subject.claims)
    if unmet is not None:
        note = f"not played: {subject.profile.name} claims {unmet} = {subject.claims.get(unmet)!r}"
        return Case(scenario.name, variant, subject.evidence, note=note)
    played = _converse(scenario, variant, subject)
    conversation = tuple(played.exchanges)
    outcomes = _of_the_provider(check(conversation, subject.profile), promised(scenario, variant))
    probes = tuple(_probe(probe, played.bodies, subject) for probe in scenario.probes)
    return Case(scenario.name, variant, _evidence(conversation, subject), outcomes, probes, played.note)


def _converse(scenario: Scenario, variant: str, subject: Subject) -> _Play:
    system = [{"role": "system", "content": scenario.system}] if scenario.system else []
    played = _Play(transcript=system)
    for number, turn in enumerate(scenario.turns, 1):
        called = played.transcript[-1].get("tool_calls", ()) if played.transcript else ()
        if bool(called) is not bool(turn.results):
            played.note = f"ended before turn {number}: the model " + ("called a tool" if called else "called no tool")
            break
        played.transcript += _brought(turn, called)
        body = _body(scenario, variant, played.transcript, subject)
        exchange = subject.send(body)
        played.bodies.append(body)
        played.exchanges.append(exchange)
        replies = Index((exchange,)).replies
        if not replies:
            played.note = f"ended at turn {number}: {_observed(exchange)}"
            break
        played.transcript.append(ingress.read(replies[0].message))
    return played


def _brought(turn: Turn, called: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what the client brings to a turn: the user's words, or one result a call, in the calls' order."""
    if turn.user is not None:
        yield {"role": "user", "content": turn.user}
    for position, call in enumerate(called):
        text = turn.results[position] if position < len(turn.results) else NO_RESULT
        yield {"role": "tool", "tool_call_id": call["id"], "content": text}


def _body(
    scenario: Scenario, variant: str, transcript: Sequence[Mapping[str, Any]], subject: Subject
) -> dict[str, Any]:
    claims = subject.claims
    body: dict[str, Any] = {"model": subject.model, "messages": egress.prepare(transcript, claims)}
    if scenario.tools:
        body["tools"] = [tool_definitions()[name] for name in scenario.tools]
    if variant == "stream":
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    switch = claims.get("thinking.on") if "thinking.mode" in scenario.needs else None
    return body | switch if isinstance(switch, dict) else body


def promised(scenario: Scenario, variant: str) -> tuple[str, ...]:
    """Return the ids of the rules that a scenario promises to put to the test in a variant."""
    return tuple(
        rule.id
        for rule in rules.load()
        if rule.on.side is Side.PROVIDER
        and rule.on.variant in ("", variant)
        and any(fnmatchcase(rule.id, glob) for glob in scenario.exercises)
    )


def _of_the_provider(outcomes: Sequence[Outcome], kept: Sequence[str]) -> tuple[Outcome, ...]:
    """Return what is to be said of the provider.

    A promised rule that found nothing to judge is untested. What the client did is this project's own doing: it is
    left out, but for what it must not have done, which is errored.
    """
    sides = {rule.id: rule.on.side for rule in rules.load()}
    said = []
    for outcome in outcomes:
        if sides[outcome.rule] is Side.PROVIDER:
            idle = outcome.status is Status.NOT_APPLICABLE and outcome.reason.startswith(NOTHING_TO_JUDGE)
            untested = idle and outcome.rule in kept
            said.append(replace(outcome, status=Status.UNTESTED) if untested else outcome)
        elif outcome.status is Status.ERRORED or (outcome.status is Status.FAILED and outcome.level is Level.MUST):
            words = outcome.reason or f"the suite's own request breaks it: {outcome.findings[0].message}"
            said.append(replace(outcome, status=Status.ERRORED, reason=words))
    return tuple(said)


def _evidence(conversation: Conversation, subject: Subject) -> Evidence:
    """Return the kind of evidence; a simulator that was asked as if it were live says so itself, and is believed."""
    simulated = any(exchange.headers.get("server") == SIMULATOR for exchange in conversation)
    return Evidence.SIMULATED if simulated else subject.evidence


def _probe(probe: Probe, bodies: Sequence[Mapping[str, Any]], subject: Subject) -> Probed:
    rule = probe.breaks or ""
    if probe.at > len(bodies):
        return Probed(probe.name, probe.title, rule, Status.UNTESTED, "", f"exchange {probe.at} was never reached")
    body = changed(bodies[probe.at - 1], probe.change)
    expected = predicted(body, probe, subject)
    exchange = subject.send(body)
    observed = _observed(exchange)
    if expected is None:
        return Probed(probe.name, probe.title, rule, Status.NOT_APPLICABLE, "unknown", observed)
    status = Status.PASSED if _agrees(expected, exchange) else Status.FAILED
    return Probed(probe.name, probe.title, rule, status, _words(expected), observed)


def predicted(body: Mapping[str, Any], probe: Probe, subject: Subject) -> Refusal | str | None:
    """Return what the claims say a provider does with a changed request: a refusal, "accepted", or None: unknown."""
    if probe.breaks is None:
        return "accepted"
    (rule,) = rules.select([probe.breaks])
    (outcome,) = check((Exchange(request=body, model=subject.model),), subject.profile, [rule])
    refusal = next((finding.refusal for finding in outcome.findings if finding.refusal is not None), None)
    if refusal is not None:
        return refusal
    borne = any(subject.claims.get(name) in ("accepted", "ignored", "damaged") for name in rule.claims)
    return "accepted" if borne else None


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
        return "accepted"
    return f"refused with {exchange.status}: {_error_text(exchange.response)}"[:500]


def _error_text(body: Any) -> str:
    """Return the words of an error body, whatever its shape."""
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error
    return str(error)
