"""The gate: unexpected failures close it, and so do stale, unmatched and expired entries."""

from dataclasses import replace

from conformance.baseline import Entry
from conformance.gate import GateResult, check_results, evaluate
from conformance.results import NOT_PLAYED, Evidence, Finding, Level, Outcome, Status
from conformance.results.runs import Case, ProbeResult, Results
from tests.loops import every

RULE = "stream/ends-with-done"
FOUND = (Finding("/0/response", "expected [DONE], got the end", Level.MUST),)


def outcome(status: Status, level: Level = Level.MUST) -> Outcome:
    return Outcome(RULE, status, level, 1, FOUND if status is Status.FAILED else ())


def results(*outcomes: Outcome, probes: tuple[ProbeResult, ...] = (), note: str = "") -> Results:
    return Results("example", "m", (Case("plain-answer", "stream", Evidence.LIVE, outcomes, probes, note),))


def entry(match: str = f"example/{RULE}", until: str = "", *, flaky: bool = False) -> Entry:
    return Entry(match, "It never sends one.", "https://example.org", until, flaky)


@every(
    ("observed", "entries", "closed_by"),
    [
        (results(outcome(Status.PASSED)), [], ""),
        (results(outcome(Status.FAILED)), [], "unexpected"),
        (results(outcome(Status.FAILED, Level.SHOULD)), [], ""),
        (results(outcome(Status.UNTESTED)), [], "unexpected"),
        (results(outcome(Status.FAILED)), [entry()], ""),
        (results(outcome(Status.FAILED)), [entry(f"example/plain-answer.stream/{RULE}")], ""),
        (results(outcome(Status.FAILED)), [entry("example/**")], ""),
        (results(outcome(Status.FAILED)), [entry(flaky=True)], ""),
        (results(outcome(Status.PASSED)), [entry()], "stale"),
        (results(outcome(Status.PASSED)), [entry(flaky=True)], ""),
        (results(outcome(Status.PASSED)), [entry("example/stream/no-such-rule")], "unmatched"),
        (results(outcome(Status.PASSED)), [entry("other/stream/ends-with-done")], "unmatched"),
        (results(outcome(Status.FAILED)), [entry(until="2026-12-01")], ""),
        (results(outcome(Status.PASSED)), [entry(until="2026-11-01")], "expired"),
        (results(outcome(Status.ERRORED)), [], "errored"),
        (results(outcome(Status.PASSED), outcome(Status.ERRORED)), [entry(flaky=True)], "errored"),
        (results(note="ended at turn 1: HTTP 500"), [], "unchecked"),
        (results(note=f"{NOT_PLAYED}: it has no tools"), [], ""),
    ],
)
def test_what_closes_the_gate(observed: Results, entries: list[Entry], closed_by: str) -> None:
    gate = evaluate([observed], entries, "2026-11-22")
    closing = ("unexpected", "errored", "stale", "unmatched", "expired", "unchecked")
    assert ([closed_by] if closed_by else []) == [name for name in closing if getattr(gate, name)]
    assert (not closed_by) is gate.passes


def test_an_expired_entry_covers_nothing() -> None:
    gate = evaluate([results(outcome(Status.FAILED))], [entry(until="2026-11-01")], "2026-11-22")
    assert (1, 1) == (len(gate.unexpected), len(gate.expired))


def test_an_entry_can_match_the_name_of_a_probe() -> None:
    probe = ProbeResult(
        "ids-empty", "A title.", "request/tool-call-id-not-empty", Status.FAILED, "refused with 400", "accepted"
    )
    observed = results(outcome(Status.PASSED), probes=(probe,))
    _, result = check_results(observed)
    assert ("example/plain-answer.stream/probes/ids-empty", "example/probes/ids-empty") == result.names
    assert evaluate([observed], [entry("example/probes/*")]).passes


def test_the_result_of_a_rule_is_named_with_its_case_and_without() -> None:
    (result,) = check_results(results(outcome(Status.FAILED)))
    assert (f"example/plain-answer.stream/{RULE}", f"example/{RULE}") == result.names


def test_checks_that_do_not_apply_have_no_result() -> None:
    skipped = replace(outcome(Status.PASSED), status=Status.NOT_APPLICABLE)
    assert () == check_results(results(skipped))


def test_no_results_and_no_entries_pass() -> None:
    assert GateResult() == evaluate([], [])
