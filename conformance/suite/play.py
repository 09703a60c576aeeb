"""Plays the user's side of a scenario against a provider and checks the replies by the rule set."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from conformance import rules
from conformance.convert import egress, ingress
from conformance.engine import check
from conformance.profiles import Profile
from conformance.results import (
    ENDED_BY_MODEL,
    NOT_PLAYED,
    NOTHING_TO_JUDGE,
    Case,
    Evidence,
    Level,
    Outcome,
    ProbeResult,
    Status,
)
from conformance.results.excerpts import with_excerpts
from conformance.rule_ids import matches
from conformance.scenarios import Probe, Scenario, Turn, tool_definitions
from conformance.suite.probes import run_probe
from conformance.transport.client import SIMULATOR
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index
from conformance.wire.reasoning import TAGS
from conformance.wire.views import Side

Send: TypeAlias = Callable[[Mapping[str, Any]], Exchange]

NO_RESULT = "There is nothing to say about that."
"""The tool message for a call that has no result in the script."""

MAX_TOKENS: Final = 2048
"""The smallest token limit of a reply: enough for reasoning and some calls."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The model of a provider under test, and how to send it requests."""

    profile: Profile
    model: str
    send: Send
    evidence: Evidence

    @property
    def claims(self) -> Mapping[str, Any]:
        """Return what the profile claims about this model today."""
        return self.profile.at(self.model, "")


@dataclass(slots=True)
class Progress:
    """A scenario while it is played: the canonical transcript and the exchanges so far.

    `sources` are, for each request, the messages of the transcript that its messages were made from, one for one.
    """

    transcript: list[dict[str, Any]]
    exchanges: list[Exchange] = field(default_factory=list)
    sources: list[list[dict[str, Any]]] = field(default_factory=list)
    note: str = ""


def play(scenario: Scenario, variant: str, subject: Subject) -> Case:
    """Play a scenario and its probes and check both; nothing that a provider does raises.

    A scenario whose needs the claims rule out is not played; its case names the need and has no outcomes.
    """
    unmet = scenario.unmet(subject.claims)
    if scenario.for_clients or unmet is not None:
        note = f"{NOT_PLAYED}: {subject.profile.name} claims {unmet} = {subject.claims.get(unmet or '')!r}"
        note = f"{NOT_PLAYED}: only a simulator misbehaves so" if scenario.for_clients else note
        return Case(scenario.name, variant, subject.evidence, note=note)
    progress = _converse(scenario, variant, subject)
    conversation = tuple(progress.exchanges)
    checked = check(conversation, subject.profile)
    idle = {outcome.rule for outcome in checked if _found_nothing(outcome)}.intersection(promised(scenario, variant))
    outcomes = with_excerpts(_of_provider(checked, untested_rules(idle, conversation, subject.claims)), conversation)
    probes = tuple([result for probe in scenario.probes if (result := _probe(probe, progress, subject)) is not None])
    return Case(scenario.name, variant, _evidence(conversation, subject), outcomes, probes, progress.note)


def _probe(probe: Probe, progress: Progress, subject: Subject) -> ProbeResult | None:
    reached = probe.at <= len(progress.exchanges)
    before = tuple(progress.exchanges[: probe.at]) if reached else ()
    sources = progress.sources[probe.at - 1] if reached else []
    return run_probe(probe, before, sources, subject.profile, subject.send)


def _converse(scenario: Scenario, variant: str, subject: Subject) -> Progress:
    system = [{"role": "system", "content": scenario.system}] if scenario.system else []
    progress = Progress(transcript=system)
    for number, turn in enumerate(scenario.turns, 1):
        called = progress.transcript[-1].get("tool_calls", ()) if progress.transcript else ()
        if bool(called) is not bool(turn.results):
            progress.note = f"{ENDED_BY_MODEL} {number}: the model " + ("called a tool" if called else "called no tool")
            break
        progress.transcript += _client_messages(turn, called)
        prepared = egress.prepare(progress.transcript, subject.claims)
        exchange = subject.send(_body(scenario, variant, prepared.messages, subject))
        progress.exchanges.append(exchange)
        progress.sources.append([progress.transcript[origin] for origin in prepared.origins])
        replies = Index((exchange,)).replies
        if not replies:
            progress.note = f"ended at turn {number}: HTTP {exchange.status}: {exchange.response!r:.400}"
            break
        progress.transcript.append(ingress.read(replies[0].message, subject.claims))
    return progress


def _client_messages(turn: Turn, called: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what the client adds in a turn: the user message, or one result per call in their order."""
    if turn.user is not None:
        yield {"role": "user", "content": turn.user}
    for position, call in enumerate(called):
        text = turn.results[position] if position < len(turn.results) else NO_RESULT
        yield {"role": "tool", "tool_call_id": call["id"], "content": text}


def _body(scenario: Scenario, variant: str, messages: Sequence[Mapping[str, Any]], subject: Subject) -> dict[str, Any]:
    claims = subject.claims
    body: dict[str, Any] = {"model": subject.model, "messages": messages}
    if scenario.tools:
        body["tools"] = [tool_definitions()[name] for name in scenario.tools]
    if variant == "stream":
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    elif claims.get("stream.default") is True:
        body["stream"] = False
    names = claims.get("request.max-tokens-fields")
    body[names[0] if isinstance(names, list) and names else "max_tokens"] = max_reply_tokens(subject.profile)
    switch = claims.get("thinking.on") if "thinking.mode" in scenario.needs else None
    return body | switch if isinstance(switch, dict) else body


def max_reply_tokens(profile: Profile) -> int:
    """Return the token limit of a reply."""
    return max(MAX_TOKENS, profile.max_tokens or 0)


def promised(scenario: Scenario, variant: str) -> tuple[str, ...]:
    """Return the ids of the rules that a scenario promises to test in a variant."""
    return tuple(
        rule.id
        for rule in rules.load()
        if rule.on.side is Side.PROVIDER
        and rule.on.variant in ("", variant)
        and any(matches(glob, rule.id) for glob in scenario.exercises)
    )


def _of_provider(outcomes: Sequence[Outcome], untested: Set[str]) -> tuple[Outcome, ...]:
    """Return the outcomes about the provider; the rules in `untested` become untested.

    The requests are this project's own, so outcomes about the client are omitted. A request that breaks a MUST is a
    bug of the suite, and errored.
    """
    sides = {rule.id: rule.on.side for rule in rules.load()}
    kept = []
    for outcome in outcomes:
        if sides[outcome.rule] is Side.PROVIDER:
            kept.append(replace(outcome, status=Status.UNTESTED) if outcome.rule in untested else outcome)
        elif outcome.status is Status.ERRORED or (outcome.status is Status.FAILED and outcome.level is Level.MUST):
            reason = outcome.reason or f"the suite's own request breaks it: {outcome.findings[0].message}"
            kept.append(replace(outcome, status=Status.ERRORED, reason=reason))
    return tuple(kept)


def _found_nothing(outcome: Outcome) -> bool:
    return outcome.status is Status.NOT_APPLICABLE and outcome.reason.startswith(NOTHING_TO_JUDGE)


def untested_rules(idle: Set[str], conversation: Conversation, claims: Mapping[str, Any]) -> Set[str]:
    """Return which of the idle rules have nothing to check in a conversation even without claims."""
    hidden = tuple(_hidden_rules(claims))
    chosen = [rule for rule in rules.load() if rule.id in idle and not any(matches(each, rule.id) for each in hidden)]
    if not chosen:
        return frozenset()
    return {outcome.rule for outcome in check(conversation, None, chosen) if not outcome.judged}


def _hidden_rules(claims: Mapping[str, Any]) -> Iterator[str]:
    """Yield globs of the rules that cannot see what they check in replies as claimed.

    The rule about the reasoning field takes reasoning between tags for content, and a reply without finish reason
    is never complete.
    """
    claimed = claims.get("reasoning.response-field", "")
    if (claimed[0] if isinstance(claimed, list) else claimed) in TAGS:
        yield "reasoning/in-claimed-field"
    if claims.get("finish.missing-in-stream") is True:
        yield "tool-calls/arguments-*"


def _evidence(conversation: Conversation, subject: Subject) -> Evidence:
    """Return the kind of evidence; replies that name the simulator in a header are simulated, even in a live run."""
    simulated = any(exchange.headers.get("server") == SIMULATOR for exchange in conversation)
    return Evidence.SIMULATED if simulated else subject.evidence
