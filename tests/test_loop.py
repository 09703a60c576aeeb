"""Loop facts: a client with one fault breaks the fact about it, and a good client breaks none."""

import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

import pytest

from conformance import profiles, scenarios
from conformance.adapters import loop
from conformance.adapters.case import AdapterSetup, CaseRun, run_case
from conformance.adapters.driver import Driver, Surroundings
from conformance.cli import main
from conformance.processes import Children
from conformance.results import Level, Outcome, Status
from conformance.simulator.sessions import SessionServer, serving_sessions
from tests.loops import every
from tests.sampling import some

BROKEN_CLIENT = Path(__file__).with_name("broken_client.py")


Drive: TypeAlias = Callable[..., CaseRun]


@pytest.fixture(scope="module")
def driven() -> Iterator[Drive]:
    """Return a function that drives the client with a fault through a case, each pair once."""
    with serving_sessions() as server, Children() as children:
        yield cache(partial(drive, server, Surroundings(children)))


def drive(server: SessionServer, surroundings: Surroundings, case: str, fault: str, *, strict: bool = False) -> CaseRun:
    scenario, _, variant = case.partition(".")
    profile = profiles.load("deepseek")
    driver = Driver((sys.executable, str(BROKEN_CLIENT), fault), seconds=30)
    setup = AdapterSetup(driver, profile, profile.model, strict)
    return run_case(server, scenarios.load(scenario), variant, setup, surroundings)


def outcome(run: CaseRun, rule: str) -> Outcome:
    return next(each for each in run.case.outcomes if each.rule == rule)


FAULTS = [
    ("stops-early", "agent-session.plain", "loop/every-prompt-answered", Level.MUST, "expected the answer"),
    ("asks-for-a-title", "plain-answer.plain", "loop/no-extra-requests", Level.SHOULD, "got one more"),
    ("forgets-history", "agent-session.plain", "loop/history-sent", Level.MUST, "expected the history to include"),
    ("swaps-results", "parallel-tool-calls.plain", "loop/result-matches-call", Level.MUST, "got that of call"),
    ("stores-results-by-id", "ids-equal.plain", "loop/result-matches-call", Level.MUST, "got that of call 2"),
    ("ends-on-failure", "tool-fails.plain", "loop/failed-call-keeps-batch", Level.MUST, "got no more requests"),
    (
        "blanks-failures",
        "tool-fails.plain",
        "loop/failed-call-keeps-batch",
        Level.MUST,
        "reports the failure of call 2",
    ),
    ("accepts-truncated", "cut-stream.stream", "loop/truncated-reply-discarded", Level.MUST, "got '' as its answer"),
    ("runs-truncated-call", "cut-stream.stream", "loop/truncated-reply-discarded", Level.MUST, "in the history"),
    ("runs-denied", "tool-denied.plain", "loop/denied-call-answered", Level.MUST, "got that it started"),
    ("gates-one-by-one", "parallel-tool-calls.plain", "loop/approval-once-per-batch", Level.SHOULD, "got 2"),
    # It waits for its tools, and stands where a plain run leaves it out: at an odd place.
    ("one-by-one", "slow-tools.plain", "loop/calls-run-in-parallel", Level.MAY, "after 800 ms or more"),
    ("gates-late", "parallel-tool-calls.plain", "loop/approval-once-per-batch", Level.SHOULD, "before the gate"),
]  # fmt: skip


def test_a_truncated_reply_that_the_result_marks_as_interrupted_is_not_the_clients_fault(driven: Drive) -> None:
    run = driven("cut-stream.stream", "marks-truncated")
    assert Status.PASSED is outcome(run, "loop/truncated-reply-discarded").status


@every(
    ("said", "marks"),
    [
        ("stop", False), ("end_turn", False), ("END_TURN", False), ("FinishReason.STOP", False), ("completed", False),
        ("tool-calls", False), (None, False), ("", False), ("unknown", True), ("other", True), ("error", True),
        ("aborted", True), ("incomplete", True), ("max_tokens", True), ("length", True),
    ],
)  # fmt: skip
def test_only_a_word_that_no_complete_reply_has_marks_it_as_interrupted(said: str | None, marks: bool) -> None:  # noqa: FBT001
    answer = loop.DriverAnswer.from_json({"texts": ["a", "b"], "finish": ["stop", said]})
    assert (False, marks, False) == tuple([answer.marks_interrupted(prompt) for prompt in range(3)])


@every(("fault", "case", "rule", "level", "words"), some(FAULTS, 2))
def test_a_fault_breaks_the_fact_about_it(
    fault: str, case: str, rule: str, level: Level, words: str, driven: Drive
) -> None:
    found = outcome(driven(case, fault), rule)
    assert Status.FAILED is found.status, found.reason
    assert level is found.level
    assert words in " ".join(finding.message for finding in found.findings)
    assert all(finding.at.startswith("/") for finding in found.findings)


def test_a_refusal_without_a_retry_passes(driven: Drive) -> None:
    faults = "drops-reasoning", "retries-refusals"
    runs = [driven("interleaved-thinking.plain", fault, strict=True) for fault in faults]
    assert [4, 4] != [len(run.conversation) for run in runs]
    refused = outcome(runs[0], "loop/rejected-request-not-retried")
    assert Status.PASSED is refused.status
    assert "refused by reasoning/" in runs[0].case.note


GOOD = [
    ("", "agent-session.plain"),
    ("", "ids-equal.plain"),
    ("", "tool-fails.plain"),
    ("", "cut-stream.stream"),
    ("", "tool-denied.plain"),
    ("gates", "parallel-tool-calls.plain"),
    ("", "slow-tools.plain"),
    pytest.param("", "agent-session.stream", marks=pytest.mark.slow),
    pytest.param("", "error-inside-stream.stream", marks=pytest.mark.slow),
    pytest.param("gates", "tool-denied.plain", marks=pytest.mark.slow),
    pytest.param("", "arguments-malformed.plain", marks=pytest.mark.slow),
]


@every(("variation", "case"), GOOD)
def test_a_good_loop_breaks_no_fact(variation: str, case: str, driven: Drive) -> None:
    run = driven(case, variation)
    found = [each for each in run.case.outcomes if each.rule.startswith("loop/")]
    assert [fact.id for fact in loop.load()] == [each.rule for each in found]
    bad = (Status.FAILED, Status.UNTESTED, Status.ERRORED)
    assert [] == [(each.rule, each.reason, each.findings) for each in found if each.status in bad]


CHECKED = [
    ("gates", "parallel-tool-calls.plain", "loop/approval-once-per-batch"),
    ("", "slow-tools.plain", "loop/calls-run-in-parallel"),
    ("", "cut-stream.stream", "loop/truncated-reply-discarded"),
    ("", "tool-denied.plain", "loop/denied-call-answered"),
    ("", "tool-fails.plain", "loop/failed-call-keeps-batch"),
    ("", "ids-equal.plain", "loop/result-matches-call"),
    ("", "agent-session.plain", "loop/every-prompt-answered"),
    ("", "agent-session.plain", "loop/no-extra-requests"),
    ("", "agent-session.plain", "loop/history-sent"),
]


@pytest.mark.parametrize(("variation", "case", "rule"), CHECKED, ids=[rule for _, _, rule in CHECKED])
def test_a_fact_passes_if_it_had_something_to_check(variation: str, case: str, rule: str, driven: Drive) -> None:
    found = outcome(driven(case, variation), rule)
    assert Status.PASSED is found.status
    assert found.judged > 0


def test_a_loop_that_does_not_report_its_gate_does_not_break_the_fact_about_it(driven: Drive) -> None:
    found = outcome(driven("parallel-tool-calls.plain", ""), "loop/approval-once-per-batch")
    assert Status.NOT_APPLICABLE is found.status
    assert "does not report" in found.reason


@pytest.mark.parametrize("fact", loop.load(), ids=lambda fact: fact.id)
def test_each_fact_says_why_and_how_to_mend_it(
    fact: loop.Fact, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert fact.title.endswith(".")
    assert fact.source.url
    assert 0 == main(["explain", fact.id])
    shown = capsys.readouterr().out
    assert shown.startswith(f"{fact.id}\n{fact.title}\n")
    assert "\nWhy\n" in shown
    assert "\nTo fix it\n" in shown
