"""Former rule ids: whatever names a rule by one goes on working."""

import json
from pathlib import Path
from typing import Any

import pytest

from conformance import rules, scenarios
from conformance.adapters import loop
from conformance.baseline import Entry
from conformance.cli import main
from conformance.evidence.calibration import Failure
from conformance.gate import check_results, evaluate
from conformance.reporting.matrix.difference import Difference, difference
from conformance.results import files as stored
from conformance.results.runs import Results
from conformance.rule_ids import RENAMED, all_ids, current_id, matches
from conformance.schemas import validator
from conformance.suite.expected_failures import ExpectedFailures
from tests.loops import every

CURRENT = {*(rule.id for rule in rules.load()), *(fact.id for fact in loop.load())}
OLD, NEW = "stream/not-cut", "stream/complete"
OF_RULES = [old for old in RENAMED if not old.startswith("loop/")]
OF_LOOPS = [old for old in RENAMED if old.startswith("loop/")]


def written(folder: Path, rule: str, passed: str = "stream/ends-with-done") -> Path:
    """Write a results file with one failure of a rule, a pass of another, and a probe of the first."""
    finding = {"at": "/0/response", "message": "expected all, got half", "level": "MUST"}
    outcome = {"rule": rule, "status": "failed", "level": "MUST", "judged": 1, "findings": [finding]}
    probe = {
        "name": "p",
        "title": "t",
        "rule": rule,
        "status": "passed",
        "expected": "accepted",
        "observed": "yes",
    }
    case = {
        "scenario": "plain-answer", "variant": "stream", "evidence": "live", "note": "",
        "outcomes": [outcome], "probes": [probe],
    }  # fmt: skip
    value: dict[str, Any] = {
        "subject": "openai", "model": "m", "cases": [case], "passed": {passed: {"level": "MUST", "judged": [1]}},
    }  # fmt: skip
    assert () == validator("files/results").errors(value)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "openai.json"
    path.write_text(json.dumps(value), "utf-8")
    return path


def read(folder: Path, rule: str) -> Results:
    return stored.read(written(folder, rule))


def test_former_ids_lead_to_current_ones_and_are_none_themselves() -> None:
    assert set() == set(RENAMED.values()) - CURRENT
    assert set() == RENAMED.keys() & CURRENT


def test_an_id_that_was_never_renamed_stays_as_it_is() -> None:
    assert "stream/id-once" == current_id("stream/id-once")
    assert ("usage/adds-up",) == all_ids("usage/adds-up")


@every("old", OF_RULES)
def test_a_former_id_selects_its_rule(old: str) -> None:
    assert [RENAMED[old]] == [rule.id for rule in rules.select([old])]


def test_a_glob_that_matches_only_a_former_id_selects_its_rule() -> None:
    assert [NEW] == [rule.id for rule in rules.select(["stream/not-*"])]
    assert matches("*/not-cut", NEW)


@every("old", [*OF_RULES, *OF_LOOPS])
def test_a_former_id_is_explained(old: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["explain", old])
    assert capsys.readouterr().out.startswith(f"{RENAMED[old]}\n")


def test_results_with_a_former_id_read_as_those_with_the_current_one(tmp_path: Path) -> None:
    assert read(tmp_path / "new", NEW) == read(tmp_path / "old", OLD)


def test_what_passed_under_a_former_id_reads_as_the_rule(tmp_path: Path) -> None:
    results = stored.read(written(tmp_path, "stream/utf8-valid", passed=OLD))
    assert ["stream/complete", "stream/utf8-valid"] == [outcome.rule for outcome in results.cases[0].outcomes]


def test_a_rename_is_no_difference(tmp_path: Path) -> None:
    assert Difference() == difference([read(tmp_path / "old", OLD)], [read(tmp_path / "new", NEW)])


@pytest.mark.parametrize("rule", [OLD, NEW])
@pytest.mark.parametrize("match", [OLD, NEW, "stream/not-*", "stream/com*", "plain-answer.stream/stream/not-cut", "**"])
def test_an_entry_covers_a_failure_under_either_id(rule: str, match: str, tmp_path: Path) -> None:
    entry = Entry(f"openai/{match}", "It is cut.", "https://example.org")
    gate = evaluate([read(tmp_path, rule)], [entry])
    assert (True, [entry]) == (gate.passes, [each for _, each in gate.expected])


def test_the_current_id_comes_first_among_the_names_of_a_fact(tmp_path: Path) -> None:
    names = [each.names for each in check_results(read(tmp_path, OLD)) if each.check == NEW]
    assert [
        (
            "openai/plain-answer.stream/stream/complete",
            "openai/stream/complete",
            "openai/plain-answer.stream/stream/not-cut",
            "openai/stream/not-cut",
        )
    ] == names


@pytest.mark.parametrize("match", ["stream/not-cut", "plain-answer.stream/stream/not-cut"])
def test_an_entry_with_a_former_id_excuses_a_failure_of_a_run(match: str, tmp_path: Path) -> None:
    results = read(tmp_path, NEW)
    entry = Entry(f"openai/{match}", "It is cut.", "https://example.org")
    expected = ExpectedFailures.of_subject("openai", [entry], "2026-11-22")
    assert entry == expected.covering("openai", results.cases[0], NEW)
    assert (entry if "plain" in match else None) == expected.naming("openai", results.cases[0], NEW)
    assert expected.check_entries(results, is_complete=True).passes


def test_an_entry_about_recordings_covers_a_rule_under_its_former_id() -> None:
    failure = Failure("xai", "claim contradicted", "3f1a", "x.json", NEW, (), "", "")
    assert Entry("recordings/xai/stream/not-cut/3f1a", "Cut.", "https://example.org").covers(failure.names)


def baseline(path: Path, rule: str) -> None:
    path.write_text(f"- {{match: openai/{rule}, reason: It is cut., link: 'https://example.org'}}\n", "utf-8")


def test_gate_and_diff_take_results_with_a_former_id(tmp_path: Path) -> None:
    old, new = written(tmp_path / "old", OLD), written(tmp_path / "new", NEW)
    baseline(tmp_path / "expected.yaml", OLD)
    assert 0 == main(["gate", str(old), "--expected", str(tmp_path / "expected.yaml")])
    assert 0 == main(["diff", str(old), str(new)])


def test_a_report_of_results_with_a_former_id_is_not_stale(tmp_path: Path) -> None:
    for rule in (NEW, OLD):
        written(tmp_path / rule.replace("/", "-") / "results", rule)
        baseline(tmp_path / rule.replace("/", "-") / "expected-failures.yaml", rule)
    out = str(tmp_path / "out")
    assert 0 == main(["report", "--results", str(tmp_path / "stream-complete"), "--only", "mine", "--out", out])
    assert 0 == main(
        ["report", "--check", "--results", str(tmp_path / "stream-not-cut"), "--only", "mine", "--out", out]
    )


def test_a_scenario_names_rules_by_former_ids(tmp_path: Path) -> None:
    (tmp_path / "cut.yaml").write_text(
        "title: A cut stream.\nexercises: ['stream/not-*']\nbreaks: [stream/not-cut]\n"
        "turns: [{user: Hello., says: Hi.}]\nfor: clients\nexpects: It asks again.\n"
        "source: {url: https://example.org/}\n",
        "utf-8",
    )
    assert ("stream/complete",) == scenarios.read(tmp_path / "cut.yaml").breaks
