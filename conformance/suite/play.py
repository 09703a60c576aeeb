"""The user's side of a scenario, played against a provider; what comes back is judged by the one rule set."""

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
from conformance.suite.probes import probed
from conformance.transport.client import SIMULATOR
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index
from conformance.wire.reasoning import TAGS
from conformance.wire.views import Side

Send: TypeAlias = Callable[[Mapping[str, Any]], Exchange]

NO_RESULT = "There is nothing to say about that."
"""The tool message for a call that the script has no result for."""

MAX_TOKENS: Final = 2048
"""The bound of each reply, where the profile has no greater one: enough for a thought and some calls."""


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
class Play:
    """A scenario under way: the canonical transcript, and the exchanges that came of it.

    `sources` are, for each request, the messages of the transcript that its own were made from, one for one.
    """

    transcript: list[dict[str, Any]]
    exchanges: list[Exchange] = field(default_factory=list)
    sources: list[list[dict[str, Any]]] = field(default_factory=list)
    note: str = ""


def play(scenario: Scenario, variant: str, subject: Subject) -> Case:
    """Play a scenario and its probes, and judge both; nothing that a provider does raises.

    A scenario whose needs the claims rule out is not played: its case says which, and holds no outcome.
    """
    unmet = scenario.unmet(subject.claims)
    if scenario.for_clients or unmet is not None:
        note = f"{NOT_PLAYED}: {subject.profile.name} claims {unmet} = {subject.claims.get(unmet or '')!r}"
        note = f"{NOT_PLAYED}: only a simulator misbehaves so" if scenario.for_clients else note
        return Case(scenario.name, variant, subject.evidence, note=note)
    played = _converse(scenario, variant, subject)
    conversation = tuple(played.exchanges)
    judged = check(conversation, subject.profile)
    kept = {outcome.rule for outcome in judged if _found_nothing(outcome)}.intersection(promised(scenario, variant))
    outcomes = with_excerpts(_of_the_provider(judged, missed(kept, conversation, subject.claims)), conversation)
    probes = tuple([made for probe in scenario.probes if (made := _probed(probe, played, subject)) is not None])
    return Case(scenario.name, variant, _evidence(conversation, subject), outcomes, probes, played.note)


def _probed(probe: Probe, played: Play, subject: Subject) -> ProbeResult | None:
    reached = probe.at <= len(played.exchanges)
    before = tuple(played.exchanges[: probe.at]) if reached else ()
    sources = played.sources[probe.at - 1] if reached else []
    return probed(probe, before, sources, subject.profile, subject.send)


def _converse(scenario: Scenario, variant: str, subject: Subject) -> Play:
    system = [{"role": "system", "content": scenario.system}] if scenario.system else []
    played = Play(transcript=system)
    for number, turn in enumerate(scenario.turns, 1):
        called = played.transcript[-1].get("tool_calls", ()) if played.transcript else ()
        if bool(called) is not bool(turn.results):
            played.note = f"{ENDED_BY_MODEL} {number}: the model " + ("called a tool" if called else "called no tool")
            break
        played.transcript += _brought(turn, called)
        prepared = egress.prepare(played.transcript, subject.claims)
        exchange = subject.send(_body(scenario, variant, prepared.messages, subject))
        played.exchanges.append(exchange)
        played.sources.append([played.transcript[origin] for origin in prepared.origins])
        replies = Index((exchange,)).replies
        if not replies:
            played.note = f"ended at turn {number}: HTTP {exchange.status}: {exchange.response!r:.400}"
            break
        played.transcript.append(ingress.read(replies[0].message, subject.claims))
    return played


def _brought(turn: Turn, called: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what the client brings to a turn: the user's words, or one result a call, in the calls' order."""
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
    body[names[0] if isinstance(names, list) and names else "max_tokens"] = bound(subject.profile)
    switch = claims.get("thinking.on") if "thinking.mode" in scenario.needs else None
    return body | switch if isinstance(switch, dict) else body


def bound(profile: Profile) -> int:
    """Return how many tokens a reply may have."""
    return max(MAX_TOKENS, profile.max_tokens or 0)


def promised(scenario: Scenario, variant: str) -> tuple[str, ...]:
    """Return the ids of the rules that a scenario promises to put to the test in a variant."""
    return tuple(
        rule.id
        for rule in rules.load()
        if rule.on.side is Side.PROVIDER
        and rule.on.variant in ("", variant)
        and any(matches(glob, rule.id) for glob in scenario.exercises)
    )


def _of_the_provider(outcomes: Sequence[Outcome], missed: Set[str]) -> tuple[Outcome, ...]:
    """Return what is to be said of the provider.

    A promised rule that missed what it should judge is untested; one that the claims except the provider from is not.
    What the client did is this project's own doing: it is left out, but for what it must not have done, which is
    errored.
    """
    sides = {rule.id: rule.on.side for rule in rules.load()}
    said = []
    for outcome in outcomes:
        if sides[outcome.rule] is Side.PROVIDER:
            said.append(replace(outcome, status=Status.UNTESTED) if outcome.rule in missed else outcome)
        elif outcome.status is Status.ERRORED or (outcome.status is Status.FAILED and outcome.level is Level.MUST):
            words = outcome.reason or f"the suite's own request breaks it: {outcome.findings[0].message}"
            said.append(replace(outcome, status=Status.ERRORED, reason=words))
    return tuple(said)


def _found_nothing(outcome: Outcome) -> bool:
    return outcome.status is Status.NOT_APPLICABLE and outcome.reason.startswith(NOTHING_TO_JUDGE)


def missed(idle: Set[str], conversation: Conversation, claims: Mapping[str, Any]) -> Set[str]:
    """Return those of some rules that find nothing to judge in a conversation whatever is claimed."""
    excused = tuple(_excused(claims))
    chosen = [rule for rule in rules.load() if rule.id in idle and not any(matches(each, rule.id) for each in excused)]
    if not chosen:
        return frozenset()
    return {outcome.rule for outcome in check(conversation, None, chosen) if not outcome.judged}


def _excused(claims: Mapping[str, Any]) -> Iterator[str]:
    """Yield globs of the rules that a claimed reply hides its parts from.

    Reasoning between tags is content to the rule about its field, and what has no finish reason is never whole.
    """
    claimed = claims.get("reasoning.response-field", "")
    if (claimed[0] if isinstance(claimed, list) else claimed) in TAGS:
        yield "reasoning/in-claimed-field"
    if claims.get("finish.missing-in-stream") is True:
        yield "tool-calls/arguments-*"


def _evidence(conversation: Conversation, subject: Subject) -> Evidence:
    """Return the kind of evidence; a simulator that was asked as if it were live says so itself, and is believed."""
    simulated = any(exchange.headers.get("server") == SIMULATOR for exchange in conversation)
    return Evidence.SIMULATED if simulated else subject.evidence
