"""Histories from elsewhere: scenarios that begin with a transcript, and clients that pass it on, lose or repair it."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from conformance import profiles, scenarios
from conformance.adapters import definition, loop, runs
from conformance.adapters.driver import Driver
from conformance.adapters.install import driver
from conformance.adapters.runs import RunPlan
from conformance.cli import main
from conformance.results import Level, Status
from conformance.wires import NAMES
from tests.sampling import some

HISTORIES = (
    "history-cancelled-call",
    "history-foreign-ids",
    "history-foreign-reasoning",
    "history-foreign-signatures",
    "history-image-result",
    "history-late-result",
    "history-pruned",
    "history-resumed",
    "history-streamed",
    "history-summary",
)
BROKEN_CLIENT = Path(__file__).with_name("broken_client.py")


def broken(plan: RunPlan) -> dict[str, set[str]]:
    """Return the rules that each scenario shows to be broken."""
    results, _ = runs.run(plan, 2, lambda *_: None, lambda _reason: None)
    return {
        case.scenario: {each.rule for each in case.outcomes if each.status in (Status.FAILED, Status.ERRORED)}
        for case in results.cases
    }


def plan(fault: str, provider: str) -> RunPlan:
    command = Driver((sys.executable, str(BROKEN_CLIENT), fault))
    profile = profiles.load(provider)
    return RunPlan("driver", command, profile, scenarios=("history-*",), takes_history=True)


def test_only_clients_that_take_a_history_are_driven_through_one() -> None:
    for wire in NAMES:
        without = {each.name for each in scenarios.played_by_clients(wire)}
        assert set(HISTORIES) == {each.name for each in scenarios.played_by_clients(wire, histories=True)} - without
    assert {"reference", "langchain-anthropic", "langchain-openai", "langchain-google-genai"} == {
        name for name in definition.names() if definition.load(name).takes_history
    }


def test_only_a_history_promises_that_it_is_sent() -> None:
    (fact,) = [each for each in loop.load() if each.id == "loop/given-history-sent"]
    promising = [name for name in scenarios.names() if fact.on.is_guaranteed(scenarios.load(name))]
    assert ["foreign-history", *HISTORIES] == promising


def test_takes_history_is_for_drivers(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["adapter", "run", "reference", "--takes-history"])
    assert "--takes-history is for --driver" in capsys.readouterr().err


@pytest.mark.slow
def test_a_client_that_passes_a_history_on_as_it_is_breaks_what_it_has_to_repair() -> None:
    found = broken(plan("good", "mistral"))
    assert {"transcript/calls-answered"} <= found["history-cancelled-call"]
    assert {"transcript/results-follow-calls"} <= found["history-late-result"]
    assert {"transcript/result-answers-call"} <= found["history-pruned"]
    assert {"request/tool-call-id-pattern"} <= found["history-foreign-ids"]
    assert "loop/given-history-sent" not in set().union(*found.values())


@pytest.mark.slow
def test_a_client_that_loses_a_history_breaks_that_it_is_sent() -> None:
    found = broken(plan("drops-given-history", "deepseek"))
    assert set(HISTORIES) == {name for name, rules in found.items() if "loop/given-history-sent" in rules}


@pytest.mark.slow
@pytest.mark.parametrize("provider", some(["deepseek", "mistral", "gemini_openai_compat"], mark=pytest.mark.exhaustive))
def test_the_reference_client_repairs_every_history(provider: str) -> None:
    chosen = definition.load("reference")
    planned = runs.plan_for(chosen, provider, driver(chosen))
    assert {name: set() for name in HISTORIES} == broken(replace(planned, scenarios=("history-*",)))


@pytest.mark.slow
def test_what_a_history_breaks_itself_is_a_should_for_an_adapter_that_documents_that_it_sends_it_as_given() -> None:
    results, _ = runs.run(replace(plan("good", "mistral"), history_as_given=True), 2, lambda *_: None, lambda _: None)
    levels = {
        (case.scenario, each.rule): each.level
        for case in results.cases
        for each in case.outcomes
        if each.status is Status.FAILED
    }
    for name, rule in (
        ("history-cancelled-call", "transcript/calls-answered"),
        ("history-late-result", "transcript/results-follow-calls"),
        ("history-pruned", "transcript/result-answers-call"),
        ("history-foreign-ids", "request/tool-call-id-pattern"),
    ):
        assert Level.SHOULD == levels[name, rule]


@pytest.mark.slow
def test_what_a_client_loses_of_a_history_stays_a_must() -> None:
    dropping = replace(plan("drops-given-history", "deepseek"), history_as_given=True)
    results, _ = runs.run(dropping, 2, lambda *_: None, lambda _: None)
    lost = [each for case in results.cases for each in case.outcomes if each.rule == "loop/given-history-sent"]
    assert {(Status.FAILED, Level.MUST)} == {(each.status, each.level) for each in lost}
