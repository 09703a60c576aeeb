"""Repeated cases: what must hold in every run, and what a model is free to do."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.results import ENDED_BY_MODEL, INCONCLUSIVE, Evidence, Finding, Level, Outcome, Status
from conformance.results.comparisons import RESULTS_PAIRED
from conformance.results.files import read
from conformance.results.runs import Case, ProbeResult, Runs
from conformance.suite.play import SILENT, merged
from conformance.transport.http import HttpReply
from tests.flaky import altered
from tests.forks import run_pytest

pytestmark = pytest.mark.slow

RULE = "stream/role-first"


def run(status: Status, note: str = "", level: Level = Level.MUST) -> Case:
    found = (Finding("/0", "expected a, got b", level),) if status is Status.FAILED else ()
    return Case("one-tool-call", "stream", Evidence.LIVE, (Outcome(RULE, status, level, 1, found),), (), note)


PASSED, FAILED = run(Status.PASSED), run(Status.FAILED)
EARLY = run(Status.UNTESTED, f"{ENDED_BY_MODEL} 2: the model called no tool")
REFUSED = run(Status.UNTESTED, "ended at turn 1: HTTP 400")
BUSY = Case("one-tool-call", "stream", Evidence.LIVE, note=f"{INCONCLUSIVE}: HTTP 429")


@pytest.mark.parametrize(
    ("cases", "status", "runs"),
    [
        ([PASSED, PASSED], Status.PASSED, Runs(2, 2, 0, 0)),
        ([PASSED, FAILED, PASSED], Status.FAILED, Runs(3, 2, 0, 0)),
        ([PASSED, run(Status.FAILED, level=Level.SHOULD)], Status.FAILED, Runs(2, 2, 0, 0)),
        ([EARLY, PASSED], Status.PASSED, Runs(2, 1, 1, 0)),
        ([EARLY, EARLY], Status.UNTESTED, Runs(2, 0, 2, 0)),
        ([REFUSED, PASSED], Status.UNTESTED, Runs(2, 1, 0, 0)),
        ([PASSED, run(Status.UNTESTED)], Status.UNTESTED, Runs(2, 1, 0, 0)),
        ([PASSED, run(Status.ERRORED), FAILED], Status.ERRORED, Runs(3, 1, 0, 0)),
        ([BUSY, PASSED, BUSY], Status.PASSED, Runs(3, 1, 0, 2)),
    ],
)
def test_what_is_on_the_wire_must_hold_every_time(cases: list[Case], status: Status, runs: Runs) -> None:
    case = merged(cases)
    assert ([status], runs) == ([each.status for each in case.outcomes], case.runs)


def test_the_note_says_how_many_runs_ended_early() -> None:
    assert f"{EARLY.note} (in 2 of 3 runs)" == merged([EARLY, PASSED, EARLY]).note


def test_a_case_with_only_inconclusive_runs_has_no_outcomes() -> None:
    case = merged([BUSY, BUSY])
    assert ((), True, Runs(2, 0, 0, 2)) == (case.outcomes, case.is_inconclusive, case.runs)


def test_a_case_that_is_not_played_has_no_runs() -> None:
    idle = replace(BUSY, note="not played: there are no tools")
    assert idle == merged([idle, idle])


def test_runs_are_stored_in_the_results() -> None:
    case = merged([PASSED, EARLY])
    assert case.runs == Case.from_json(case.to_json()).runs
    assert "runs" not in PASSED.to_json()


def repeated(pytester: pytest.Pytester, url: str, *arguments: str) -> pytest.RunResult:
    chosen = ["--provider=openai", "--live", f"--base-url={url}", "-k", "one-tool-call.plain and test_rule"]
    return run_pytest(pytester, *chosen, "--results=out", *arguments)


def test_a_model_that_sometimes_calls_no_tool_is_counted_and_does_not_fail(pytester: pytest.Pytester) -> None:
    begun: list[Any] = []

    def alter(_number: int, body: Any, answered: HttpReply) -> HttpReply:
        """Answer the first request of the second run with text instead of a tool call."""
        begun.extend([body] if not begun or body == begun[0] else [])
        if body != begun[0] or len(begun) != 2:
            return answered
        reply = json.loads(answered.body if isinstance(answered.body, bytes) else b"".join(answered.body))
        reply["choices"][0]["message"] = {"role": "assistant", "content": "No.", "refusal": None, "annotations": []}
        reply["choices"][0]["finish_reason"] = "stop"
        return replace(answered, body=json.dumps(reply).encode())

    with altered(alter) as url:
        result = repeated(pytester, url, "--repeat=3")
    text = result.stdout.str()
    assert 0 == result.ret, text
    assert "Each case runs 3 times" in text
    assert "the model called no tool (in " in text
    assert "not enough runs" in text
    (case,) = [each for each in read(Path(pytester.path, "out", "openai.json"), []).cases if each.runs]
    assert case.runs is not None
    assert (3, 1, 0) == (case.runs.played, case.runs.ended, case.runs.inconclusive)


def test_a_busy_endpoint_makes_runs_inconclusive(pytester: pytest.Pytester) -> None:
    def alter(number: int, _body: Any, answered: HttpReply) -> HttpReply:
        return HttpReply(502, b"{}", {"content-type": "application/json"}) if number == 1 else answered

    with altered(alter) as url:
        result = repeated(pytester, url, "--repeat=2")
    text = result.stdout.str()
    assert 0 == result.ret, text
    assert (
        "Runs: one-tool-call.plain: 1 of 1 passed, 1 inconclusive; pass^1 1.00 (95 %: 0.21 to 1.00); not enough" in text
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--repeat=2"], "--repeat needs a real endpoint"),
        (["--repeat=0", "--live"], "expected a number from 1 on, got 0"),
        (["--repeat=2", "--base-url=http://127.0.0.1:9/v1", "--max-requests=30"], "more than --max-requests 30"),
    ],
)
def test_a_run_that_cannot_be_repeated_is_refused(pytester: pytest.Pytester, arguments: list[str], words: str) -> None:
    result = run_pytest(pytester, "--provider=deepseek", "-k", "plain-answer", *arguments)
    assert pytest.ExitCode.USAGE_ERROR == result.ret
    assert words in result.stdout.str() + result.stderr.str()


def silent(status: Status) -> Case:
    reason = f"turn 1: {SILENT}" if status is Status.UNTESTED else ""
    outcome = Outcome("reasoning/in-claimed-field", status, Level.MUST, 1, (), reason)
    return Case("interleaved-thinking", "plain", Evidence.LIVE, (outcome,))


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([Status.UNTESTED, Status.PASSED, Status.UNTESTED], Status.PASSED),
        ([Status.UNTESTED, Status.UNTESTED], Status.UNTESTED),
    ],
)
def test_reasoning_that_a_model_leaves_out_by_chance_is_a_rate(statuses: list[Status], expected: Status) -> None:
    (outcome,) = merged([silent(status) for status in statuses]).outcomes
    assert expected is outcome.status


def paired(status: Status) -> Case:
    result = ProbeResult(RESULTS_PAIRED, "", "", status, "", "")
    return replace(PASSED, probes=(result,))


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([Status.FAILED, Status.PASSED], Status.PASSED),
        ([Status.FAILED, Status.FAILED], Status.FAILED),
    ],
)
def test_pairing_results_in_words_is_a_rate(statuses: list[Status], expected: Status) -> None:
    (result,) = merged([paired(status) for status in statuses]).probes
    assert expected is result.status
