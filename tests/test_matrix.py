"""The matrix: claims, observations, and that a simulated pass of a provider never conforms."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.profiles import load_profile, of
from conformance.reporting.matrix import brief, cells
from conformance.reporting.renderers.run_end import links
from conformance.reporting.renderers.run_end import render as end
from conformance.reporting.renderers.terminal import render
from conformance.resources import folder
from conformance.results import Evidence, Finding, Level, Outcome, Status, Verdict
from conformance.results.files import read
from conformance.results.runs import Case, ProbeResult, Results
from tests.loops import every

PROFILE = of({"ids.format": "call_[0-9]+"}, "example")
FOUND = (Finding("/0/response", "expected one thing, got another", Level.MUST),)


def outcome(rule: str, status: Status, judged: int = 1, level: Level = Level.MUST) -> Outcome:
    return Outcome(rule, status, level, judged, FOUND if status is Status.FAILED else ())


def results(evidence: Evidence = Evidence.RECORDED) -> Results:
    rule = "tool-calls/id-in-claimed-format"
    probe = ProbeResult(
        "results-missing", "A title.", "transcript/calls-answered", Status.FAILED, "refused with 400", "accepted"
    )
    passed = ProbeResult(
        "results-missing", "A title.", probe.rule, Status.PASSED, "refused with 400", "refused with 400: no"
    )
    plain = Case("one-tool-call", "plain", evidence, (outcome(rule, Status.PASSED, 3),), (probe,))
    stream = Case(
        "one-tool-call",
        "stream",
        evidence,
        (outcome("stream/ends-with-done", Status.FAILED, 2), outcome(rule, Status.PASSED)),
        (passed,),
        "ended early",
    )
    return Results("example", "m", (plain, stream))


def test_the_matrix_in_a_terminal(golden: Callable[[str, str], None]) -> None:
    shown = render(results(), cells(results(), PROFILE), "Example", 120)
    golden("matrix.txt", shown + "\n")


def test_the_end_of_a_run_in_a_terminal(golden: Callable[[str, str], None]) -> None:
    shown = end(results(), cells(results(), PROFILE), links("deepseek", Path("a folder")), 80)
    golden("run_end.txt", shown + "\n")


def test_the_end_of_a_run_shows_what_fails_and_nothing_else() -> None:
    shown = end(results(), cells(results(), PROFILE), links("example", None), 80, lambda _: "known since May")
    assert ("stream/ends-with-done" in shown, "tool-calls/id-in-claimed-format" in shown) == (True, False)
    assert "known since May" in shown
    passing = replace(results(), cases=(replace(results().cases[0], probes=(), note=""),))
    assert end(passing, cells(passing, PROFILE), {}, 80).startswith("Not conforming: nothing\n\nCounts: 1 conforms;")


@every("columns", [40, 60, 80, 120, 200])
@every("name", ["groq", "vllm"])
def test_the_matrix_fits_the_terminal_and_cuts_no_value(name: str, columns: int) -> None:
    found, profile = read(folder("reports") / "results" / f"{name}.json"), load_profile(name)
    every = cells(found, profile)
    shown = render(found, every, profile.title, columns)
    assert columns >= max(map(len, shown.splitlines()))
    assert "…" not in shown
    if columns == 40:
        # In a paragraph the lines of a value follow each other.
        text = "".join(shown.split())
        assert [] == [cell.claimed for cell in every if "".join(cell.claimed.split()) not in text]


@pytest.mark.parametrize(
    ("status", "level", "evidence", "verdict"),
    [
        (Status.PASSED, Level.MUST, Evidence.SIMULATED, Verdict.DECLARED),
        (Status.PASSED, Level.MUST, Evidence.LIVE, Verdict.CONFORMS),
        (Status.PASSED, Level.MUST, Evidence.ENGINE, Verdict.CONFORMS),
        (Status.FAILED, Level.MUST, Evidence.SIMULATED, Verdict.BREAKS),
        (Status.FAILED, Level.SHOULD, Evidence.LIVE, Verdict.DEPARTS),
        (Status.UNTESTED, Level.MUST, Evidence.LIVE, Verdict.UNTESTED),
        (Status.ERRORED, Level.MUST, Evidence.LIVE, Verdict.ERRORED),
    ],
)
def test_the_verdict_of_a_cell(status: Status, level: Level, evidence: Evidence, verdict: Verdict) -> None:
    case = Case("s", "plain", evidence, (outcome("tool-calls/id-not-empty", status, level=level),))
    (cell,) = cells(Results("example", "m", (case,)), PROFILE)
    assert verdict is cell.verdict


def test_several_scenarios_make_one_cell_with_the_worst_verdict() -> None:
    rule = "tool-calls/id-not-empty"
    cases = (
        Case("a", "plain", Evidence.LIVE, (outcome(rule, Status.PASSED, 3),)),
        Case("b", "plain", Evidence.LIVE, (outcome(rule, Status.FAILED, 2),)),
    )
    (cell,) = cells(Results("example", "m", cases), PROFILE)
    assert (Verdict.BREAKS, 5) == (cell.verdict, cell.judged)


def test_evidence_of_two_kinds_is_never_mixed_in_a_cell() -> None:
    rule = "tool-calls/id-not-empty"
    cases = tuple(Case("a", "plain", kind, (outcome(rule, Status.PASSED),)) for kind in Evidence)
    assert len(Evidence) == len(cells(Results("example", "m", cases), PROFILE))


def test_results_survive_their_json() -> None:
    assert results() == Results.from_json(results().to_json())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"status": 400, "message": "no"}, "400 no"),
        ({"limit": 40, "refusal": {"status": 400}}, "400"),
        (["a", "b"], "a, b"),
        (True, "true"),
        ("accepted", "accepted"),
    ],
)
def test_a_claim_in_a_few_words(value: object, expected: str) -> None:
    assert expected == brief(value)
