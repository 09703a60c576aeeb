"""One case: a driver takes an adapter through a session, and the requests it sent are checked."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from conformance import rules, wires
from conformance.adapters import loop
from conformance.adapters.agent_case import agent_session, check_parts, lacking, run_agent
from conformance.adapters.driver import Driver, Surroundings, drive
from conformance.adapters.given import with_given_history
from conformance.adapters.job import job_of
from conformance.adapters.loop import ANSWERED, ClientSession, DriverAnswer
from conformance.adapters.normalize import normalize, normalize_text
from conformance.profiles import Profile
from conformance.results import NOT_PLAYED, Evidence, Level, Outcome, Status
from conformance.results.runs import Case
from conformance.scenarios import Scenario
from conformance.simulator.sessions import ScenarioSession, SessionServer
from conformance.suite.play import untested_rules
from conformance.wire.exchange import Conversation
from conformance.wire.views import Side


@dataclass(frozen=True, slots=True)
class AdapterSetup:
    """An adapter's driver, the provider that the simulator plays to it, and the model to ask for.

    With `strict` the simulator rejects what the provider rejects; otherwise it only records. `history_as_given`: the
    adapter documents that it sends a history as its caller gives it.
    """

    driver: Driver
    profile: Profile
    model: str
    strict: bool = False
    history_as_given: bool = False


@dataclass(frozen=True, slots=True)
class CaseRun:
    """A case that was run, its exchanges, and the package versions that the driver reported.

    `wrong_kind`: every request asked for the other kind of reply than the case tests. `beside`: what a whole agent
    asked beside the conversation.
    """

    case: Case
    conversation: Conversation = ()
    versions: Mapping[str, str] | None = None
    wrong_kind: bool = False
    beside: Conversation = ()


def run_case(
    server: SessionServer, scenario: Scenario, variant: str, setup: AdapterSetup, surroundings: Surroundings
) -> CaseRun:
    """Drive an adapter through a scenario and check what it sent; nothing that the adapter does raises.

    A scenario that the provider's claims rule out is not played: its case has no outcomes and says which claim.
    """
    claims = setup.profile.at(setup.model)
    unmet = scenario.unmet(claims)
    if unmet is not None:
        note = f"{NOT_PLAYED}: {setup.profile.name} claims {unmet} = {claims.get(unmet)!r}"
        return CaseRun(Case(scenario.name, variant, Evidence.SIMULATED, note=note))
    if scenario.for_agents:
        return _run_agent_case(server, scenario, setup, surroundings)
    session = server.open(scenario, setup.profile, variant, setup.model, strict=setup.strict)
    job = job_of(session)
    result = drive(setup.driver, job, surroundings)
    conversation = session.exchanges
    wrong_kind = wrong_reply_kind(session, "the driver", "use --variant {other} if it cannot do that")
    # The first names the cause: a broken simulator fails drivers, and a failed driver asks for nothing.
    failure = session.fault or result.failure or wrong_kind
    if result.answer is None or failure:
        errored = _errored(scenario, variant, normalize_text(failure, {}))
        # A fault of the simulator comes first: it may itself be why the kind of replies is wrong.
        return CaseRun(errored, conversation, wrong_kind=failure == wrong_kind != "")
    checked = check_session(client_session(session, job, result.answer), session.profile)
    if scenario.history and setup.history_as_given:
        checked = with_given_history(checked, scenario, session.profile)
    outcomes = normalize(checked, conversation)
    note = normalize_text(_note(session, result.answer), {})
    return CaseRun(
        Case(scenario.name, variant, Evidence.SIMULATED, outcomes, note=note), conversation, result.answer.versions
    )


def _run_agent_case(
    server: SessionServer, scenario: Scenario, setup: AdapterSetup, surroundings: Surroundings
) -> CaseRun:
    """Drive a whole agent through a scenario and check what it sent."""
    case = Case(scenario.name, "stream", Evidence.SIMULATED)
    reason = setup.driver.agent.get("cannot", {}).get(scenario.name, "")
    if reason:
        return CaseRun(replace(case, note=f"{NOT_PLAYED}: {reason}"))
    session, job, answer, failure = run_agent(server, scenario, setup.profile, setup.model, setup.driver, surroundings)
    conversation, beside = session.exchanges, wires.translate(tuple(session.beside))
    failure = session.fault or failure
    if answer is None or failure:
        return CaseRun(_errored(scenario, "stream", normalize_text(failure, {})), conversation, beside=beside)
    if lacking(session):
        return CaseRun(replace(case, note=f"{NOT_PLAYED}: {lacking(session)}"), conversation, beside=beside)
    found = agent_session(session, job, answer)
    outcomes = normalize(check_session(found, session.profile), found.conversation)
    number = f"{len(beside)} requests beside the conversation" if beside else ""
    note = "; ".join(filter(None, [normalize_text(_note(session, answer), {}), number]))
    return CaseRun(replace(case, outcomes=outcomes, note=note), conversation, answer.versions, beside=beside)


def client_session(session: ScenarioSession, job: Mapping[str, Any], answer: DriverAnswer) -> ClientSession:
    """Return a session as loop facts look at it."""
    return ClientSession(
        scenario=session.scenario,
        conversation=session.exchanges,
        job=job,
        answer=answer,
        moments=tuple(session.times),
        refused={refused.exchange: refused.rule for refused in session.refusals},
        needs_finish=session.profile.at(session.model).get("finish.missing-in-stream") is not True,
    )


def wrong_reply_kind(session: ScenarioSession, who: str, advice: str) -> str:
    """Return what is wrong if every request asked for the other kind of reply than the session tests.

    `advice` says how to test only the other kind, which stands for `{other}`.
    """
    wanted = session.variant == "stream"
    bodies = [exchange.request for exchange in session.exchanges]
    kinds = [isinstance(body, dict) and body.get("stream") is True for body in bodies]
    if not kinds or wanted in kinds:
        return ""
    kind, other = ("streamed", "plain") if wanted else ("plain", "stream")
    return f"{who} requested no {kind} reply, which this case tests; {advice.format(other=other)}"


def check_session(session: ClientSession, profile: Profile) -> tuple[Outcome, ...]:
    """Check a session by the rules about clients and the loop facts, under the profile that the session was played by.

    What the scenario promises to test but found nothing to check is untested; without a request, all of it is.
    """
    wanted = promised(session.scenario, profile.wire)
    if not session.conversation:
        return tuple(_nothing_sent(wanted, session))
    claims = profile.at(str(session.job["model"]))
    checked = check_parts(session.conversation, session.restarts, profile)
    clients = [outcome for outcome in checked if rules.by_id()[outcome.rule].on.side is Side.CLIENT]
    outcomes = sorted([*clients, *loop.judge(session)], key=lambda outcome: outcome.rule)
    idle = {outcome.rule for outcome in outcomes if outcome.found_nothing} & wanted
    facts = {fact.id for fact in loop.load()}
    untested = (idle & facts) | untested_rules(idle - facts, session.conversation, claims)
    return tuple(
        [replace(outcome, status=Status.UNTESTED) if outcome.rule in untested else outcome for outcome in outcomes]
    )


def promised(scenario: Scenario, wire: str) -> Set[str]:
    """Return the ids of the rules about clients and the loop facts that a scenario promises to test on a wire."""
    clients = [rule.id for rule in rules.load() if rule.on.side is Side.CLIENT and wire in rule.wires]
    guaranteed = {fact.id for fact in loop.load() if fact.on.is_guaranteed(scenario)}
    return guaranteed | {rule for rule in clients if any(fnmatchcase(rule, glob) for glob in scenario.exercises)}


def _nothing_sent(wanted: Set[str], session: ClientSession) -> Iterator[Outcome]:
    error = session.answer.error
    raised = f"; the adapter raised {error.type}: {error.message:.300}" if error else ""
    for rule in sorted(wanted | {ANSWERED}):
        yield Outcome(rule, Status.UNTESTED, loop.with_rules()[rule].level, reason=f"no request was sent{raised}")


def _errored(scenario: Scenario, variant: str, failure: str) -> Case:
    """Return the case of a driver or a harness that failed, which shows nothing about the adapter."""
    outcome = Outcome(ANSWERED, Status.ERRORED, Level.MUST, reason=failure)
    return Case(scenario.name, variant, Evidence.SIMULATED, (outcome,), note="errored: not the adapter's fault")


def _note(session: ScenarioSession, answer: DriverAnswer) -> str:
    """Return what else happened in a case: the first refusal of a strict session, and what the adapter raised."""
    notes = []
    if session.refusals:
        first = session.refusals[0]
        message = f": {first.refusal.message}" if first.refusal.message else ""
        notes.append(f"request {first.exchange} was refused by {first.rule} with {first.refusal.status}{message}")
    if answer.error is not None:
        notes.append(f"the adapter raised {answer.error.type}: {answer.error.message:.300}")
    return "; ".join(notes)
