"""A whole agent is started for each prompt and judged by what it sends: a conforming one passes, a broken one fails."""

import sys
from pathlib import Path
from typing import Any

import pytest

from conformance import profiles, scenarios
from conformance.adapters import definition
from conformance.adapters.case import AdapterSetup, CaseRun, run_case
from conformance.adapters.driver import Driver, Surroundings
from conformance.adapters.install import _AGENT_DRIVER
from conformance.adapters.runs import RunPlan, plan_for
from conformance.processes import Children
from conformance.results import Status
from conformance.simulator.sessions import serving_sessions
from tests.loops import every
from tests.sampling import some

AGENT = Path(__file__).with_name("driven_agent.py")
PROVIDERS = {
    "chat": ("deepseek", "{base_url}"),
    "messages": ("anthropic", "{base_url}"),
    "gemini": ("gemini", "{base_url}beta"),
}


def driver(wire: str, url: str, **changes: Any) -> Driver:
    about: dict[str, Any] = {
        "command": [sys.executable, str(AGENT), url, wire, "{model}", "{home}/session.json", "{prompt}"],
        "answer": {"lines": {"where": {"type": "answer"}, "text": "text"}},
        "environment": {},
        "folder": "",
        "node": "",
        "package": "driven-agent",
        "version": "1.0",
        **changes,
    }
    return Driver((sys.executable, str(_AGENT_DRIVER)), seconds=60, agent=about)


def played(name: str, wire: str = "chat", fault: str = "", **changes: Any) -> CaseRun:
    provider, url = PROVIDERS[wire]
    profile = profiles.load(provider).on(wire)
    given = driver(wire, url, environment={"DRIVEN_FAULT": fault}, **changes)
    setup = AdapterSetup(given, profile, profile.model)
    with serving_sessions() as server, Children() as children:
        return run_case(server, scenarios.load_driven(name), "stream", setup, Surroundings(children))


def failed(run: CaseRun) -> dict[str, str]:
    bad = (Status.FAILED, Status.ERRORED, Status.UNTESTED)
    return {each.rule: each.reason or each.findings[0].message for each in run.case.outcomes if each.status in bad}


@every("name", some(["parallel-reads", "resumed-session", "rate-limited", "tools-of-its-own"]))
def test_a_conforming_agent_passes(name: str) -> None:
    run = played(name)
    assert {} == failed(run)
    assert {"driven-agent": "1.0"} == run.versions
    assert {"loop/every-prompt-answered", "loop/result-matches-call"} <= {
        each.rule for each in run.case.outcomes if each.status is Status.PASSED
    }


@pytest.mark.slow
@every(
    ("name", "wire"),
    some(
        [(name, wire) for name in scenarios.driven_names() for wire in PROVIDERS if name != "context-length"],
        2,
        mark=pytest.mark.exhaustive,
    ),
)
def test_a_conforming_agent_passes_on_each_wire(name: str, wire: str) -> None:
    if wire in scenarios.load_driven(name).wires:
        musts = {
            each.rule: each.findings[0].message
            for each in played(name, wire).case.outcomes
            if each.status is Status.FAILED and each.level.value == "MUST" and each.rule.startswith("loop/")
        }
        assert {} == musts


FAULTS = [
    ("resumed-session", "forgets", "loop/history-sent"),
    ("parallel-reads", "silent", "loop/every-prompt-answered"),
    ("parallel-reads", "swaps", "loop/result-matches-call"),
    ("parallel-reads", "drops", "transcript/calls-answered"),
]


@every(("name", "fault", "rule"), some(FAULTS))
def test_a_broken_agent_fails_by_the_rule_about_its_fault(name: str, fault: str, rule: str) -> None:
    assert rule in failed(played(name, fault=fault))


def test_an_agent_that_ends_with_an_error_reports_it() -> None:
    run = played("parallel-reads", command=[sys.executable, "-c", "import sys; sys.exit('no such option')"])
    assert "no request was sent; the adapter raised exit code 1: no such option" in str([*failed(run).values()])


def test_an_agent_without_a_tool_is_not_judged() -> None:
    source = (
        "import sys; sys.path.insert(0, sys.argv[1]); from tests.driven import *;"
        "DrivenAgent(*sys.argv[2:5], tools=()).ask(sys.argv[5])"
    )
    root = str(Path(__file__).parents[1])
    run = played(
        "parallel-reads", command=[sys.executable, "-c", source, root, "{base_url}", "chat", "{model}", "{prompt}"]
    )
    assert "not played: the agent offers no tool for read, shell" == run.case.note


def test_a_scenario_that_an_agent_cannot_is_not_played() -> None:
    assert (
        "not played: it has no permissions"
        == played("parallel-reads", cannot={"parallel-reads": "it has no permissions"}).case.note
    )


AGENTS = [name for name in definition.names() if definition.load(name).agent]


@every("name", AGENTS)
def test_every_agent_is_complete(name: str) -> None:
    found = definition.load(name)
    assert {"stream"} == {*found.variants}
    assert any("{prompt}" in word for word in found.agent["command"])
    assert found.others
    plan: RunPlan = plan_for(found, found.providers[0], Driver((), agent=found.agent))
    assert {"parallel-reads", "context-length"} <= {scenario.name for scenario, _ in plan.cases}


def test_agents_speak_all_wires() -> None:
    assert {"chat", "messages", "responses", "gemini"} == {definition.load(name).protocol for name in AGENTS}
    families = {definition.load(name).agent.get("family", name) for name in AGENTS}
    assert len(families) >= 9
