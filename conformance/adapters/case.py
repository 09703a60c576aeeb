"""One case: a session is opened, a driver goes through it, and what it sent becomes outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.adapters.check import outcomes
from conformance.adapters.driver import Driver, drive
from conformance.adapters.job import job
from conformance.adapters.loop import ANSWERED, Answer, Level, Played
from conformance.adapters.normalize import steady, words
from conformance.profiles import Profile
from conformance.results import NOT_PLAYED, Case, Evidence, Outcome, Status
from conformance.scenarios import Scenario
from conformance.simulator.sessions import Session, Stage
from conformance.wire.exchange import Conversation


@dataclass(frozen=True, slots=True)
class Subject:
    """An adapter with one provider: its driver, whom it is to take the simulator for, and which model to ask for.

    `strict`: what the provider refuses is refused, instead of being recorded alone.
    """

    driver: Driver
    profile: Profile
    model: str
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """A case that was run: what is said of it, what passed, and the versions that the driver told."""

    case: Case
    conversation: Conversation = ()
    versions: Mapping[str, str] | None = None


def play(stage: Stage, scenario: Scenario, variant: str, subject: Subject) -> Run:
    """Drive an adapter through a scenario and judge it; nothing that it does raises.

    A scenario whose needs the claims rule out is not played: its case says which, and holds no outcome.
    """
    claims = subject.profile.at(subject.model)
    unmet = scenario.unmet(claims)
    if unmet is not None:
        note = f"{NOT_PLAYED}: {subject.profile.name} claims {unmet} = {claims.get(unmet)!r}"
        return Run(Case(scenario.name, variant, Evidence.SIMULATED, note=note))
    session = stage.open(scenario, subject.profile, variant, subject.model, strict=subject.strict)
    given = job(session)
    driven = drive(subject.driver, given)
    conversation = session.exchanges
    fault = session.fault or driven.fault or disobeyed(session, "the driver")
    if driven.answer is None or fault:
        return Run(_errored(scenario, variant, words(fault, {})), conversation)
    found = steady(outcomes(played(session, given, driven.answer), session.profile), conversation)
    case = Case(scenario.name, variant, Evidence.SIMULATED, found, note=words(_note(session, driven.answer), {}))
    return Run(case, conversation, driven.answer.versions)


def played(session: Session, given: Mapping[str, Any], answer: Answer) -> Played:
    """Return a session as loop facts look at it."""
    return Played(
        scenario=session.scenario,
        conversation=session.exchanges,
        job=given,
        answer=answer,
        moments=tuple(session.moments),
        refused={each.exchange: each.rule for each in session.refusals},
        needs_finish=session.profile.at(session.model).get("finish.missing-in-stream") is not True,
    )


def disobeyed(session: Session, who: str) -> str:
    """Return what is wrong where someone asked for the other kind of replies than was to be put to the test."""
    wanted = session.variant == "stream"
    bodies = [exchange.request for exchange in session.exchanges]
    kinds = [isinstance(body, dict) and body.get("stream") is True for body in bodies]
    if not kinds or wanted in kinds:
        return ""
    told = "streams, and asked for none" if wanted else "plain replies, and asked for streams alone"
    return f"{who} was to ask for {told}"


def _errored(scenario: Scenario, variant: str, fault: str) -> Case:
    """Return the case of a driver or a harness at fault, which says nothing of the adapter."""
    outcome = Outcome(ANSWERED, Status.ERRORED, Level.MUST, reason=fault)
    return Case(scenario.name, variant, Evidence.SIMULATED, (outcome,), note="errored: no fault of the adapter's")


def _note(session: Session, answer: Answer) -> str:
    """Return what else is to be known of a case: the first refusal of a strict session, and what the adapter raised."""
    notes = []
    if session.refusals:
        first = session.refusals[0]
        message = f": {first.refusal.message}" if first.refusal.message else ""
        notes.append(f"request {first.exchange} was refused by {first.rule} with {first.refusal.status}{message}")
    if answer.error is not None:
        notes.append(f"the adapter raised {answer.error.type}: {answer.error.message:.300}")
    return "; ".join(notes)
