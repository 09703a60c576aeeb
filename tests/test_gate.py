"""The gate: what breaks unexpectedly closes it, and so does an excuse that is none any more."""

from dataclasses import replace

import pytest

from conformance.baseline import Entry
from conformance.gate import Judgement, facts, judge
from conformance.results import NOT_PLAYED, Case, Evidence, Finding, Level, Outcome, Probed, Results, Status

RULE = "stream/ends-with-done"
FOUND = (Finding("/0/response", "expected [DONE], got the end", Level.MUST),)


def outcome(status: Status, level: Level = Level.MUST) -> Outcome:
    return Outcome(RULE, status, level, 1, FOUND if status is Status.FAILED else ())


def results(*outcomes: Outcome, probes: tuple[Probed, ...] = (), note: str = "") -> Results:
    return Results("example", "m", (Case("plain-answer", "stream", Evidence.LIVE, outcomes, probes, note),))


def entry(match: str = f"example/{RULE}", until: str = "", *, flaky: bool = False) -> Entry:
    return Entry(match, "It never sends one.", "https://example.org", until, flaky)


@pytest.mark.parametrize(
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
        (results(outcome(Status.PASSED)), [entry()], "mended"),
        (results(outcome(Status.PASSED)), [entry(flaky=True)], ""),
        (results(outcome(Status.PASSED)), [entry("example/stream/no-such-rule")], "unmatched"),
        (results(outcome(Status.PASSED)), [entry("other/stream/ends-with-done")], "unmatched"),
        (results(outcome(Status.FAILED)), [entry(until="2026-12-01")], ""),
        (results(outcome(Status.PASSED)), [entry(until="2026-11-01")], "ended"),
        (results(outcome(Status.ERRORED)), [], "errored"),
        (results(outcome(Status.PASSED), outcome(Status.ERRORED)), [entry(flaky=True)], "errored"),
        (results(note="ended at turn 1: HTTP 500"), [], "idle"),
        (results(note=f"{NOT_PLAYED}: it has no tools"), [], ""),
    ],
)
def test_what_closes_the_gate(observed: Results, entries: list[Entry], closed_by: str) -> None:
    judgement = judge([observed], entries, "2026-11-22")
    closing = ("unexpected", "errored", "mended", "unmatched", "ended", "idle")
    assert ([closed_by] if closed_by else []) == [name for name in closing if getattr(judgement, name)]
    assert (not closed_by) is judgement.passes


def test_an_entry_past_its_end_excuses_nothing() -> None:
    judgement = judge([results(outcome(Status.FAILED))], [entry(until="2026-11-01")], "2026-11-22")
    assert (1, 1) == (len(judgement.unexpected), len(judgement.ended))


def test_a_probe_has_a_name_of_its_own_that_an_entry_can_match() -> None:
    probe = Probed(
        "ids-empty", "A title.", "request/tool-call-id-not-empty", Status.FAILED, "refused with 400", "accepted"
    )
    observed = results(outcome(Status.PASSED), probes=(probe,))
    assert ("example/plain-answer.stream/probes/ids-empty", "example/probes/ids-empty") == facts(observed)[1].names
    assert judge([observed], [entry("example/probes/*")]).passes


def test_facts_that_did_not_apply_are_no_facts() -> None:
    skipped = replace(outcome(Status.PASSED), status=Status.NOT_APPLICABLE)
    assert () == facts(results(skipped))


def test_nothing_at_all_passes_a_gate_without_entries() -> None:
    assert Judgement() == judge([], [])
