"""The published matrix: rules, probes and claims of every subject, each cell with its evidence."""

from typing import Any

from conformance import profiles
from conformance.baseline import Entry
from conformance.reporting.matrix.table import Inputs, table
from conformance.results import Evidence, Finding, Level, Outcome, Status, Verdict
from conformance.results.calibration import entry
from conformance.results.runs import Case, ProbeResult, Results
from tests.loops import every

RULE = "stream/ends-with-done"
FOUND = (Finding("/0/response", "expected [DONE], got the end", Level.MUST),)
PROFILE = profiles.load("deepseek")


def inputs(evidence: Evidence = Evidence.RECORDED, **more: Any) -> Inputs:
    broken = Outcome(RULE, Status.FAILED, Level.MUST, 1, FOUND)
    probe = ProbeResult(
        "ids-empty", "A title.", "request/tool-call-id-not-empty", Status.PASSED, "accepted", "accepted"
    )
    case = Case("one-tool-call", "stream", evidence, (broken,), (probe,))
    return Inputs((Results("deepseek", "deepseek-v4-pro", (case,)),), {"deepseek": PROFILE}, **more)


def test_a_rule_a_probe_and_a_claim_have_a_row_each() -> None:
    made = table(inputs())
    titles = {row.name: (row.family, row.level) for row in made.rows}
    assert ("stream", "MUST") == titles[RULE]
    assert ("probes", "") == titles["probes/one-tool-call: ids-empty"]
    assert ("claims", "") == titles["claims/ids.format"]
    assert all(row.title for row in made.rows)


def test_an_expected_failure_has_its_reason() -> None:
    entry = Entry(f"deepseek/one-tool-call.stream/{RULE}", "It never sends one.", "https://example.org")
    (cell,) = [each for each in table(inputs(entries=(entry,))).cells if each.row == RULE]
    assert (Verdict.BREAKS, "It never sends one.", FOUND) == (cell.verdict, cell.expected, cell.findings)
    assert "pytest --provider=deepseek --model deepseek-v4-pro -k one-tool-call" == cell.command


@every(
    ("counts", "verdict", "evidence"),
    [
        (None, Verdict.DECLARED, "sources"),
        ({"confirmed": [0, 1]}, Verdict.CONFORMS, "recorded"),
        ({"confirmed": [0, 1], "contradicted": [2]}, Verdict.DEPARTS, "recorded"),
        ({"confirmed": [0], "artefacts": [[1, "written by hand"]]}, Verdict.CONFORMS, "recorded"),
        ({"confirmed": [0], "value": "another"}, Verdict.DECLARED, "sources"),
        ({"confirmed": [0], "since": "2020"}, Verdict.DECLARED, "sources"),
        ({"confirmed": [0], "model": "m-*"}, Verdict.DECLARED, "sources"),
        ({"artefacts": [[1, "written by hand"]]}, Verdict.DECLARED, "sources"),
        ({"answered": [0]}, Verdict.DECLARED, "sources"),
        ({"engine": 5}, Verdict.CONFORMS, "engine"),
    ],
)
def test_the_evidence_of_a_claim_is_what_shows_its_very_value(
    counts: dict[str, Any] | None, verdict: Verdict, evidence: str
) -> None:
    section, claim = entry(PROFILE, "ids.format", PROFILE.model, "")
    assert claim is not None
    held = {"claim": "ids.format", "model": section, "since": claim.since, "value": claim.value}
    calibration = {"deepseek": {"claims": [] if counts is None else [held | counts]}}
    (cell,) = [each for each in table(inputs(calibration=calibration)).cells if each.row == "claims/ids.format"]
    assert (verdict, evidence) == (cell.verdict, cell.evidence)
    assert cell.claim is not None
    assert cell.claim.source


def test_an_adapter_with_a_provider_is_a_subject() -> None:
    outcome = Outcome("reasoning/resent-on-tool-turns", Status.PASSED, Level.MUST, 2)
    case = Case("agent-session", "plain", Evidence.RECORDED, (outcome,))
    results = Results("an-sdk@1.0", "deepseek-v4-pro", (case,), "deepseek", {"an-sdk": "1.0"})
    made = table(Inputs((results,), {"deepseek": PROFILE}))
    assert [("an-sdk@1.0/deepseek", "adapter", "deepseek")] == [(s.name, s.kind, s.provider) for s in made.subjects]
    assert ["reasoning/resent-on-tool-turns"] == [cell.row for cell in made.cells]
    assert results == Results.from_json(results.to_json())
