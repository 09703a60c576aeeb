"""One case: a scenario is played with its probes, and its replies are checked by the rule set.

If a case is played many times, what must hold every time is separated from what a model is free to do.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final, TypeVar

from conformance import linear, rules
from conformance.core_facts import REASONING_RULE
from conformance.judge import check
from conformance.observations import words
from conformance.results import ENDED_BY_MODEL, NOT_PLAYED, Evidence, Level, Outcome, Status
from conformance.results.comparisons import COMPARISONS, RESULTS_PAIRED
from conformance.results.excerpts import with_excerpts
from conformance.results.runs import Case, ProbeResult, Runs
from conformance.scenarios import Probe, Scenario
from conformance.suite.blame import of_provider
from conformance.suite.comparisons import compared
from conformance.suite.failures import NOT_SENT_BACK
from conformance.suite.probes import run_probe
from conformance.suite.turns import Progress, Subject, converse
from conformance.transport.client import SIMULATOR
from conformance.wire.exchange import Conversation
from conformance.wire.native import CHAT
from conformance.wire.reasoning import TAGS, foreign_keys
from conformance.wire.views import Side

NO_REASONING: Final = "the model thinks, but its calls came without reasoning, so there is none to change"
"""Why a probe that changes reasoning is untested."""

SILENT: Final = "the model thinks, but twice its calls came without reasoning"
"""Why the promise about the reasoning field is untested."""

RULES_OF_CLAIMS: Final = {"tool-calls/id-unique-in-conversation": "ids.unique-in-conversation"}
"""Rules at SHOULD that are a MUST at providers with a true claim."""

_PROMISES: Final = 1024
"""How many answers are kept: each scenario has two variants on each wire."""

_WORST_FIRST: Final = (Status.ERRORED, Status.FAILED, Status.UNTESTED, Status.PASSED, Status.NOT_APPLICABLE)

Checked = TypeVar("Checked", Outcome, ProbeResult)


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
    outcomes = of_provider(checked, frozenset() if progress.is_inconclusive else untested, conversation)
    outcomes = with_excerpts(_without_reasoning(outcomes, progress.silent), conversation)
    evidence, observed = _evidence(conversation, subject), dict(words.core_facts(conversation, subject.claims))
    observed |= {NOT_SENT_BACK: tuple(progress.changes)} if progress.changes else {}
    outcomes = _claims_kept(outcomes, subject.claims)
    probes = (
        *[result for probe in scenario.probes if (result := probed(probe, progress, subject)) is not None],
        *compared(scenario, variant, progress, subject, evidence),
    )
    return Case(scenario.name, variant, evidence, outcomes, probes, progress.note, observed=observed)


def probed(probe: Probe, progress: Progress, subject: Subject) -> ProbeResult | None:
    """Return the result of a probe of a scenario that was played; None if there is nothing to change."""
    reached = probe.at <= len(progress.exchanges)
    before = tuple(progress.exchanges[: probe.at]) if reached else ()
    sources = progress.sources[probe.at - 1] if reached else []
    if progress.silent and probe.on_reasoning:
        return ProbeResult(probe.name, probe.title, probe.breaks or "", Status.UNTESTED, "", NO_REASONING)
    return run_probe(probe, before, sources, subject.profile, subject.sender(probe.name))


def promised(scenario: Scenario, variant: str, wire: str = CHAT) -> tuple[str, ...]:
    """Return the ids of the rules that a scenario promises to test in a variant on a wire."""
    return _promised(scenario.exercises, variant, wire)


# A run asks for each case, and holds every rule against every glob to answer.
@lru_cache(maxsize=_PROMISES)
def _promised(exercises: tuple[str, ...], variant: str, wire: str) -> tuple[str, ...]:
    return tuple(
        rule.id
        for rule in rules.load()
        if rule.on.side is Side.PROVIDER
        and wire in rule.wires
        and rule.on.variant in ("", variant)
        and any(fnmatchcase(rule.id, glob) for glob in exercises)
    )


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

    The rules about reasoning take that between tags for content, know no key that only one provider has, and find none
    where no field is claimed; replies may have empty ids, and one without finish reason is never complete.
    """
    claimed = claims.get("reasoning.response-field", "")
    usual = claimed[0] if isinstance(claimed, list) else claimed
    if usual in ("", *TAGS) or foreign_keys(usual):
        yield from (REASONING_RULE, "reasoning/not-of-earlier-turn")
    formats = claims.get("reply.id-format", "id")
    if any(linear.fits(each, "") for each in (formats if isinstance(formats, list) else [formats])):
        yield "response/id-unique-in-session"
    if claims.get("finish.missing") is True:
        yield "response/finish-reason-*"
    if claims.get("finish.missing-in-stream") is True:
        yield "tool-calls/arguments-*"


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


def _claims_kept(outcomes: Sequence[Outcome], claims: Mapping[str, Any]) -> tuple[Outcome, ...]:
    """Return the outcomes with a SHOULD raised to MUST where the provider claims to meet it and does not.

    Without the claim the wire is valid all the same; with it, clients rely on it.
    """
    claimed = {rule for rule, claim in RULES_OF_CLAIMS.items() if claims.get(claim) is True}
    return tuple([_at_must(outcome) if outcome.rule in claimed else outcome for outcome in outcomes])


def _at_must(outcome: Outcome) -> Outcome:
    findings = tuple([replace(finding, level=Level.MUST) for finding in outcome.findings])
    return replace(outcome, level=Level.MUST, findings=findings)


def _evidence(conversation: Conversation, subject: Subject) -> Evidence:
    """Return the kind of evidence; replies that name the simulator in a header are simulated, even in a live run."""
    simulated = any(exchange.headers.get("server") == SIMULATOR for exchange in conversation)
    return Evidence.SIMULATED if simulated else subject.evidence


def merged(runs: Sequence[Case]) -> Case:
    """Return one case for at least one run of it.

    A fact that fails in one run fails, since the wire must not depend on luck. What a run did not reach because the
    model ended it is untested only if no other run reached it. What a model decides, such as whether it shows its
    reasoning, fails only if it fails in every run. Inconclusive runs are only counted.
    """
    conclusive = [run for run in runs if not run.is_inconclusive]
    if not any(run.outcomes for run in conclusive):
        idle = conclusive[0] if conclusive else runs[0]
        return idle if conclusive else replace(idle, runs=Runs(len(runs), 0, 0, len(runs)))
    noted = [run for run in conclusive if run.note]
    return replace(
        conclusive[0],
        outcomes=_outcomes(conclusive),
        probes=_probes(conclusive),
        note=f"{noted[0].note} (in {len(noted)} of {len(conclusive)} runs)" if noted else "",
        runs=Runs(
            played=len(runs),
            passed=sum(not run.note and not _fails(run) for run in conclusive),
            ended=sum(map(_is_ended, conclusive)),
            inconclusive=len(runs) - len(conclusive),
        ),
    )


def _outcomes(runs: Sequence[Case]) -> tuple[Outcome, ...]:
    found: dict[str, list[tuple[Outcome, bool]]] = {}
    for run in runs:
        for each in run.outcomes:
            found.setdefault(each.rule, []).append((each, _is_ended(run)))
    return tuple([_worst(found[rule]) for rule in sorted(found)])


def _probes(runs: Sequence[Case]) -> tuple[ProbeResult, ...]:
    found: dict[str, list[tuple[ProbeResult, bool]]] = {}
    for run in runs:
        for each in run.probes:
            found.setdefault(each.name, []).append((each, _is_ended(run)))
    return tuple([_worst(same) for same in found.values()])


def _worst(found: Sequence[tuple[Checked, bool]]) -> Checked:
    """Return the worst result; each comes with whether the model ended its run."""
    return min(found, key=lambda each: _rank(each[0], ended=each[1]))[0]


def _rank(checked: Outcome | ProbeResult, *, ended: bool) -> tuple[float, int]:
    place: float = _WORST_FIRST.index(checked.status)
    if (ended and checked.status is Status.UNTESTED) or _is_by_chance(checked):
        place = _WORST_FIRST.index(Status.PASSED) + 0.5
    return place, -checked.level.severity if isinstance(checked, Outcome) else 0


def _is_by_chance(checked: Outcome | ProbeResult) -> bool:
    """Return True if a model may do by chance what fails: one run that does better is enough."""
    if isinstance(checked, Outcome):
        return checked.status is Status.UNTESTED and checked.reason.endswith(SILENT)
    if checked.name in COMPARISONS and checked.status is Status.UNTESTED:
        return True
    if checked.name == RESULTS_PAIRED:
        return checked.status is Status.FAILED
    return checked.status is Status.UNTESTED and checked.observed == NO_REASONING


def _is_ended(run: Case) -> bool:
    return run.note.startswith(ENDED_BY_MODEL)


def _fails(run: Case) -> bool:
    broken = any(each.status is Status.FAILED and each.level is Level.MUST for each in run.outcomes)
    missed = any(each.status in (Status.UNTESTED, Status.ERRORED) for each in run.outcomes)
    return broken or missed or any(each.status in (Status.FAILED, Status.UNTESTED) for each in run.probes)
