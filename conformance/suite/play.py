"""Plays the user's side of a scenario against a provider and checks the replies by the rule set."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Final, TypeAlias

from conformance import profiles, rules
from conformance.convert import egress, ingress
from conformance.core_facts import REASONING_RULE
from conformance.errors import Unusable
from conformance.judge import check
from conformance.observations import words
from conformance.observations.replies import reasoning_fields
from conformance.profiles import UNKNOWN, Profile
from conformance.results import ENDED_BY_MODEL, INCONCLUSIVE, NOT_PLAYED, Evidence, Level, Outcome, Status
from conformance.results.excerpts import with_excerpts
from conformance.results.runs import Case, ProbeResult
from conformance.scenarios import Probe, Scenario, ScriptTurn, tool_definitions
from conformance.suite.as_scripted import compared
from conformance.suite.probes import run_probe
from conformance.transport.client import SIMULATOR, Inconclusive
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index
from conformance.wire.native import CHAT
from conformance.wire.reasoning import TAGS
from conformance.wire.views import Side

Send: TypeAlias = Callable[[Mapping[str, Any]], Exchange]

NO_RESULT = "There is nothing to say about that."
"""The tool message for a call that has no result in the script."""

NO_REASONING: Final = "the model thinks, but its calls came without reasoning, so there is none to change"
"""Why a probe that changes reasoning is untested."""

SILENT: Final = "the model thinks, but twice its calls came without reasoning"
"""Why the promise about the reasoning field is untested."""

RULES_OF_CLAIMS: Final = {"tool-calls/id-unique-in-conversation": "ids.unique-in-conversation"}
"""Rules at SHOULD that are a MUST at providers with a true claim."""

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
        """Return what the profile claims about this model."""
        return self.profile.at(self.model, "")


@dataclass(slots=True)
class Progress:
    """A scenario while it is played: the canonical transcript and the exchanges so far.

    `sources` are, for each request, the messages of the transcript that its messages were made from, one for one.
    `silent` are the turns whose calls came without reasoning, asked twice, though the model thinks.
    """

    transcript: list[dict[str, Any]]
    exchanges: list[Exchange] = field(default_factory=list)
    sources: list[list[dict[str, Any]]] = field(default_factory=list)
    note: str = ""
    silent: list[int] = field(default_factory=list)

    @property
    def is_inconclusive(self) -> bool:
        """Return True if the endpoint was busy or failed before the scenario ended."""
        return self.note.startswith(INCONCLUSIVE)


def play(scenario: Scenario, variant: str, subject: Subject) -> Case:
    """Play a scenario and its probes and check both; nothing that a provider does raises.

    A scenario whose needs the claims rule out is not played; its case names the need and has no outcomes.
    """
    unmet = scenario.unmet(subject.claims)
    if scenario.for_clients or unmet is not None:
        note = f"{NOT_PLAYED}: {subject.profile.name} claims {unmet} = {subject.claims.get(unmet or '')!r}"
        note = f"{NOT_PLAYED}: only a simulator misbehaves so" if scenario.for_clients else note
        return Case(scenario.name, variant, subject.evidence, note=note)
    progress = converse(scenario, variant, subject)
    conversation = tuple(progress.exchanges)
    if not conversation:
        return Case(scenario.name, variant, subject.evidence, note=progress.note)
    checked = check(conversation, subject.profile)
    idle = {outcome.rule for outcome in checked if outcome.found_nothing}.intersection(
        promised(scenario, variant, subject.profile.wire)
    )
    untested = untested_rules(idle, conversation, subject.claims)
    outcomes = _of_provider(checked, frozenset() if progress.is_inconclusive else untested)
    outcomes = with_excerpts(_without_reasoning(outcomes, progress.silent), conversation)
    evidence, observed = _evidence(conversation, subject), words.core_facts(conversation)
    outcomes = _claims_kept(outcomes, subject.claims)
    probes = (
        *[result for probe in scenario.probes if (result := probed(probe, progress, subject)) is not None],
        *compared(scenario, conversation, subject.profile, evidence),
    )
    return Case(scenario.name, variant, evidence, outcomes, probes, progress.note, observed=observed)


def probed(probe: Probe, progress: Progress, subject: Subject) -> ProbeResult | None:
    """Return the result of a probe of a scenario that was played; None if there is nothing to change."""
    reached = probe.at <= len(progress.exchanges)
    before = tuple(progress.exchanges[: probe.at]) if reached else ()
    sources = progress.sources[probe.at - 1] if reached else []
    if progress.silent and probe.on_reasoning:
        return ProbeResult(probe.name, probe.title, probe.breaks or "", Status.UNTESTED, "", NO_REASONING)
    return run_probe(probe, before, sources, subject.profile, subject.send)


def converse(scenario: Scenario, variant: str, subject: Subject) -> Progress:
    """Play the turns of a scenario, without its probes and without checking the replies."""
    system = [{"role": "system", "content": scenario.system}] if scenario.system else []
    progress = Progress(transcript=system)
    for number, turn in enumerate(scenario.turns, 1):
        called = progress.transcript[-1].get("tool_calls", ()) if progress.transcript else ()
        if bool(called) is not bool(turn.results):
            progress.note = _early_end(number, progress, subject, called=bool(called))
            break
        progress.transcript += _client_messages(turn, called)
        prepared = egress.prepare(progress.transcript, subject.claims)
        body = _body(scenario, variant, prepared.messages, subject)
        try:
            exchange = _with_reasoning(subject.send(body), number, turn, progress, subject)
        except Inconclusive as error:
            progress.note = f"{INCONCLUSIVE}: {error}"
            break
        progress.exchanges.append(exchange)
        progress.sources.append([progress.transcript[origin] for origin in prepared.origins])
        index = Index((exchange,))
        if not index.replies:
            progress.note = f"ended at turn {number}: HTTP {exchange.status}: {exchange.response!r:.400}"
            break
        if (reported := next((stream.value.error for stream in index.streams), None)) is not None:
            progress.note = f"ended at turn {number}: an error came inside the stream: {reported!r:.400}"
            break
        progress.transcript.append(ingress.read(index.replies[0].message, subject.claims))
    return progress


def _early_end(number: int, progress: Progress, subject: Subject, *, called: bool) -> str:
    """Return why a scenario ends before a turn: a reply that did not arrive whole is the wire's doing."""
    cut = not Index(tuple(progress.exchanges[-1:])).replies[0].complete if progress.exchanges else False
    if cut and subject.claims.get("finish.missing-in-stream") is not True:
        return f"ended at turn {number - 1}: the stream of the reply did not come to its end"
    return f"{ENDED_BY_MODEL} {number}: the model " + ("called a tool" if called else "called no tool")


def _with_reasoning(
    exchange: Exchange, number: int, turn: ScriptTurn, progress: Progress, subject: Subject
) -> Exchange:
    """Return the exchange of a turn, asked again if a thinking model called without reasoning where the script thinks.

    A model may leave reasoning out by chance. If it does so twice, the turn is noted: nothing that depends on its
    reasoning is tested. A replay cannot ask again, unless the recording did.
    """
    if not turn.calls or not turn.thinks or not _must_reason(exchange, subject.claims):
        return exchange
    try:
        again = subject.send(exchange.request)
    except (Inconclusive, Unusable):
        again = exchange
    if _must_reason(again, subject.claims):
        progress.silent.append(number)
    return again if Index((again,)).replies else exchange


def _must_reason(exchange: Exchange, claims: Mapping[str, Any]) -> bool:
    """Return True if a reply calls without reasoning, though the claims say that the model thinks and shows it."""
    if not _is_shown(exchange, claims) or profiles.thinks(claims, exchange.request) is not True:
        return False
    return any(reply.calls and not reasoning_fields(reply.message) for reply in Index((exchange,)).replies)


def _is_shown(exchange: Exchange, claims: Mapping[str, Any]) -> bool:
    """Return True if the claims say that a reply to this request shows reasoning, wherever that is."""
    field: Any = claims.get("reasoning.response-field", UNKNOWN)
    switches = claims.get("reasoning.response-field-switches", ())
    for switch in switches if isinstance(switches, list) else ():
        if profiles.matches(switch, exchange.request):
            field = switch["field"]
    return field != UNKNOWN and "none" not in (field if isinstance(field, list) else [field])


def _without_reasoning(outcomes: Sequence[Outcome], silent: Sequence[int]) -> tuple[Outcome, ...]:
    """Return the outcomes with the promise about the reasoning field untested if turns came without reasoning."""
    if not silent:
        return tuple(outcomes)
    turns = f"turn {silent[0]}" if len(silent) == 1 else f"turns {', '.join(map(str, silent))}"
    reason = f"{turns}: {SILENT}"
    return tuple(
        [
            replace(outcome, status=Status.UNTESTED, reason=reason)
            if outcome.rule == REASONING_RULE and outcome.status in (Status.PASSED, Status.NOT_APPLICABLE)
            else outcome
            for outcome in outcomes
        ]
    )


def _client_messages(turn: ScriptTurn, called: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
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


def promised(scenario: Scenario, variant: str, wire: str = CHAT) -> tuple[str, ...]:
    """Return the ids of the rules that a scenario promises to test in a variant on a wire."""
    return tuple(
        rule.id
        for rule in rules.load()
        if rule.on.side is Side.PROVIDER
        and wire in rule.wires
        and rule.on.variant in ("", variant)
        and any(fnmatchcase(rule.id, glob) for glob in scenario.exercises)
    )


def _of_provider(outcomes: Sequence[Outcome], untested: Set[str]) -> tuple[Outcome, ...]:
    """Return the outcomes about the provider; the rules in `untested` become untested.

    The requests are this project's own, so outcomes about the client are omitted. A request that breaks a MUST is a
    bug of the suite, and errored.
    """
    kept = []
    for outcome in outcomes:
        if rules.by_id()[outcome.rule].on.side is Side.PROVIDER:
            kept.append(replace(outcome, status=Status.UNTESTED) if outcome.rule in untested else outcome)
        elif outcome.status is Status.ERRORED or (outcome.status is Status.FAILED and outcome.level is Level.MUST):
            reason = outcome.reason or f"the suite's own request breaks it: {outcome.findings[0].message}"
            kept.append(replace(outcome, status=Status.ERRORED, reason=reason))
    return tuple(kept)


def _claims_kept(outcomes: Sequence[Outcome], claims: Mapping[str, Any]) -> tuple[Outcome, ...]:
    """Return the outcomes with a SHOULD raised to MUST where the provider claims to meet it and does not.

    Without the claim the wire is valid all the same; with it, clients rely on it.
    """
    claimed = {rule for rule, claim in RULES_OF_CLAIMS.items() if claims.get(claim) is True}
    return tuple([_at_must(outcome) if outcome.rule in claimed else outcome for outcome in outcomes])


def _at_must(outcome: Outcome) -> Outcome:
    findings = tuple([replace(finding, level=Level.MUST) for finding in outcome.findings])
    return replace(outcome, level=Level.MUST, findings=findings)


def untested_rules(idle: Set[str], conversation: Conversation, claims: Mapping[str, Any]) -> Set[str]:
    """Return which of the idle rules have nothing to check in a conversation even without claims."""
    hidden = tuple(_hidden_rules(claims))
    chosen = [
        rule for rule in rules.load() if rule.id in idle and not any(fnmatchcase(rule.id, each) for each in hidden)
    ]
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
        yield REASONING_RULE
    if claims.get("finish.missing-in-stream") is True:
        yield "tool-calls/arguments-*"


def _evidence(conversation: Conversation, subject: Subject) -> Evidence:
    """Return the kind of evidence; replies that name the simulator in a header are simulated, even in a live run."""
    simulated = any(exchange.headers.get("server") == SIMULATOR for exchange in conversation)
    return Evidence.SIMULATED if simulated else subject.evidence
