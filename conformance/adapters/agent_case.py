"""One case of a whole agent: it gets the files of a scenario, a model that works with its tools, and a verdict."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, cast

from conformance.adapters.driver import Driver, Surroundings, drive
from conformance.adapters.job import job_of
from conformance.adapters.loop import ClientSession, DriverAnswer
from conformance.documents.pointer import parse, render
from conformance.judge import check
from conformance.profiles import Profile
from conformance.results import Outcome, Status
from conformance.scenarios import Scenario
from conformance.simulator.drive.folder import folder_for
from conformance.simulator.drive.session import DrivenSession
from conformance.simulator.sessions import SessionServer
from conformance.wire.exchange import Conversation

SEED: Final = "adapter run"
"""What nonces are made from: the same in each run, so that the same behaviour gives the same results."""

_ORDER: Final = (Status.NOT_APPLICABLE, Status.PASSED, Status.UNTESTED, Status.FAILED, Status.ERRORED)


def run_agent(
    server: SessionServer, scenario: Scenario, profile: Profile, model: str, driver: Driver, surroundings: Surroundings
) -> tuple[DrivenSession, Mapping[str, Any], DriverAnswer | None, str]:
    """Drive an agent through a scenario; return the session, its job, the answer, and why there is none."""
    with tempfile.TemporaryDirectory(prefix="conformance-work-", ignore_cleanup_errors=True) as name:
        folder = folder_for(scenario, Path(name), f"{SEED} {profile.name}")
        folder.place()
        make = partial(DrivenSession, folder=folder)
        session = cast("DrivenSession", server.open(scenario, profile, "stream", model, make=make))
        job = agent_job(session, driver)
        result = drive(driver, job, surroundings)
    return session, {**job, "tools": _tools(session)}, result.answer, result.failure


def agent_job(session: DrivenSession, driver: Driver) -> dict[str, Any]:
    """Return the job of a session for the program that starts an agent."""
    others = driver.agent.get("others", {})
    asked = [turn for turn in session.scenario.turns if turn.user is not None]
    return {
        **job_of(session),
        "agent": {key: value for key, value in driver.agent.items() if key not in ("others", "cannot", "family")},
        "workdir": str(session.folder.root),
        "other_model": others.get(session.profile.service, session.model),
        "switches": [number for number, turn in enumerate(asked) if turn.other_model],
    }


def agent_session(session: DrivenSession, job: Mapping[str, Any], answer: DriverAnswer) -> ClientSession:
    """Return a session of an agent as loop facts look at it: with the turns as they were sent."""
    conversation = session.exchanges
    return ClientSession(
        scenario=session.concrete,
        conversation=conversation,
        job=job,
        answer=answer,
        moments=tuple(session.times),
        refused={refused.exchange: refused.rule for refused in session.refusals},
        needs_finish=session.profile.at(session.model).get("finish.missing-in-stream") is not True,
        given=tuple(session.given),
        restarts=session.restarts,
    )


def lacking(session: DrivenSession) -> str:
    """Return why a scenario was not played as it is; empty if it was."""
    deeds = session.lacking or ({*session.scenario.tools} if session.beside and not session.given else set())
    return f"the agent offers no tool for {', '.join(sorted(deeds))}" if deeds else ""


def _tools(session: DrivenSession) -> Sequence[Mapping[str, Any]]:
    """Return the tools that were called, with how each call behaves, as a job describes them."""
    names = dict.fromkeys([call.name for call in session.calls])
    return [
        {
            "name": name,
            "otherwise": "",
            "results": [
                {
                    "arguments": dict(call.arguments),
                    "text": call.text,
                    "delay_ms": 0,
                    "fails": call.fails,
                    "denied": call.denied,
                }
                for call in session.calls
                if call.name == name
            ],
        }
        for name in names
    ]


def check_parts(conversation: Conversation, restarts: Sequence[int], profile: Profile) -> tuple[Outcome, ...]:
    """Return the outcomes of the rules for a conversation; after a restart, another history begins."""
    if not restarts:
        return check(conversation, profile)
    bounds = [0, *restarts, len(conversation)]
    found: dict[str, list[Outcome]] = {}
    for start, end in pairwise(bounds):
        for outcome in check(conversation[start:end], profile) if end > start else ():
            moved = [replace(each, at=_moved(each.at, start)) for each in outcome.findings]
            found.setdefault(outcome.rule, []).append(replace(outcome, findings=tuple(moved)))
    return tuple([_joined(outcomes) for outcomes in found.values()])


def _joined(outcomes: Sequence[Outcome]) -> Outcome:
    """Return one outcome for those of the parts of a conversation: the worst one, with all findings."""
    worst = max(outcomes, key=lambda each: (_ORDER.index(each.status), each.level.severity))
    findings = tuple([finding for each in outcomes for finding in each.findings])
    return replace(worst, judged=sum([each.judged for each in outcomes]), findings=findings)


def _moved(at: str, start: int) -> str:
    """Return a pointer into a part as one into the whole conversation."""
    first, *rest = parse(at)
    return render((int(first) + start, *rest))
