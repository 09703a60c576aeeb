"""The gate: unexpected failures close it, and so do stale, unmatched and expired entries."""

import re
from dataclasses import replace

import pytest

from conformance.baseline import Entry
from conformance.errors import Unusable
from conformance.gate import GateResult, check_results, check_subjects, evaluate
from conformance.results import NOT_PLAYED, Evidence, Finding, Level, Outcome, Status
from conformance.results.runs import Case, ProbeResult, Results
from tests.loops import every

RULE = "stream/ends-with-done"
FOUND = (Finding("/0/response", "expected [DONE], got the end", Level.MUST),)


def outcome(status: Status, level: Level = Level.MUST) -> Outcome:
    return Outcome(RULE, status, level, 1, FOUND if status is Status.FAILED else ())


def results(*outcomes: Outcome, probes: tuple[ProbeResult, ...] = (), note: str = "") -> Results:
    return Results("example", "m", (Case("plain-answer", "stream", Evidence.LIVE, outcomes, probes, note),))


def entry(match: str = f"example/*/{RULE}", until: str = "", *, most: int | None = None, flaky: bool = False) -> Entry:
    return Entry(match, "It never sends one.", "https://example.org", until, most, flaky)


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
        (results(outcome(Status.PASSED)), [entry("example/*/stream/no-such-rule")], "unmatched"),
        (results(outcome(Status.PASSED)), [entry(f"example/{RULE}")], "unmatched"),
        (results(outcome(Status.FAILED)), [entry("example/**", most=1)], ""),
        (results(*[outcome(Status.FAILED)] * 3), [entry("example/**", most=2)], "exceeded"),
        (results(*[outcome(Status.PASSED)] * 3), [entry("example/**", most=2)], "stale"),
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
    gate = evaluate([observed], entries, "2026-11-22", allow_wide=True)
    closing = ("unexpected", "errored", "stale", "unmatched", "expired", "unchecked", "exceeded", "wide")
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
    assert ("example/plain-answer.stream/probes/ids-empty",) == result.names
    assert evaluate([observed], [entry("example/*/probes/*")], allow_wide=True).passes


def test_the_result_of_a_rule_is_named_with_its_case() -> None:
    (result,) = check_results(results(outcome(Status.FAILED)))
    assert (f"example/plain-answer.stream/{RULE}",) == result.names


@every(
    ("checks", "matches", "flaky", "wide"),
    [
        (20, [f"example/*/{RULE}"], False, False),
        (10, [f"example/*/{RULE}"], False, False),
        (9, [f"example/*/{RULE}"], False, True),
        (20, ["example/*/stream/*"], False, True),
        # What passes today is covered as well: a net that waits.
        (20, ["**/role-*", f"example/*/{RULE}"], True, True),
    ],
)
def test_a_baseline_is_wide_if_it_matches_more_than_a_tenth_of_the_checks_of_a_run(
    checks: int, matches: list[str], *, flaky: bool, wide: bool
) -> None:
    others = [Outcome(f"stream/role-{number}", Status.PASSED, Level.MUST, 1) for number in range(1, checks)]
    observed = results(outcome(Status.FAILED), *others)
    entries = [entry(each, flaky=flaky) for each in matches]
    gate = evaluate([observed], entries, "2026-11-22")
    assert (wide, checks) == (bool(gate.wide), gate.checks)
    assert () == evaluate([observed], entries, "2026-11-22", allow_wide=True).wide


@every(
    ("match", "concerned"),
    [
        ("example/plain-answer.stream/a/b", True),
        ("exam*/**", True),
        ("**/b", True),
        ("example:m-2/*/a/b", False),
        ("other/plain-answer.stream/a/b", False),
        ("example.messages/*/a/b", False),
        ("sdk@1.0/example/*/a/b", False),
    ],
)
def test_an_entry_about_another_subject_is_an_error_that_names_both(match: str, *, concerned: bool) -> None:
    given = [replace(entry(match), line=7)]
    if concerned:
        check_subjects([results()], given, "expected.yaml")
    else:
        words = f"^expected.yaml:7: the entry {re.escape(match)} is about another .* results are of example; remove it"
        with pytest.raises(Unusable, match=words):
            check_subjects([results()], given, "expected.yaml")


def test_checks_that_do_not_apply_have_no_result() -> None:
    skipped = replace(outcome(Status.PASSED), status=Status.NOT_APPLICABLE)
    assert () == check_results(results(skipped))


def test_no_results_and_no_entries_pass() -> None:
    assert GateResult() == evaluate([], [])
