"""The gate for other programs: failures and expected failures in each of their formats."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft4Validator

from conformance.cli import main
from conformance.reporting.matrix.annotations import Location, locations
from conformance.results import Evidence, Finding, Level, Outcome, Status
from conformance.results.files import read_with_paths, write
from conformance.results.runs import Case, ProbeResult, Results
from tests.xml_text import parse_xml

SCHEMA = json.loads((Path(__file__).parent / "official" / "sarif-2.1.0-rtm.5.json").read_text())
DONE, ROLE, USAGE, LATE = "stream/ends-with-done", "stream/role-first", "usage/sums-up", "usage/in-last-chunk"


def outcome(rule: str, status: Status, level: Level = Level.MUST) -> Outcome:
    found = (Finding("/0/response", "expected a, got b", level),)
    return Outcome(rule, status, level, 1, found if status is Status.FAILED else ())


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that prints the gate's report on every kind of result in a format."""
    probe = ProbeResult(
        "ids-empty", "A title.", "request/tool-call-id-not-empty", Status.FAILED, "refused with 400", "accepted"
    )
    outcomes = (
        outcome(DONE, Status.FAILED),
        outcome(ROLE, Status.PASSED),
        outcome(USAGE, Status.FAILED, Level.SHOULD),
        outcome(LATE, Status.UNTESTED, Level.SHOULD),
        outcome("stream/errs", Status.ERRORED),
    )
    cases = (
        Case("plain-answer", "stream", Evidence.LIVE, outcomes, (probe,)),
        Case("one-tool-call", "plain", Evidence.LIVE, note="ended at turn 1: HTTP 500"),
    )
    (tmp_path / "results").mkdir()
    results = tmp_path / "results" / "example.json"
    results.write_bytes(orjson.dumps(Results("example", "m", cases).to_json(), option=orjson.OPT_INDENT_2))
    case = "example/plain-answer.stream"
    ends = (datetime.now(UTC).date() + timedelta(300)).isoformat()
    about = f"reason: It never does.\n  link: https://e.org\n  until: {ends}\n"
    lines = [f"- match: {case}/{check}\n  {about}" for check in (DONE, ROLE, "no/such-rule")]
    (tmp_path / "expected.yaml").write_text("".join(lines))
    monkeypatch.chdir(tmp_path)

    def gate(form: str) -> str:
        assert 1 == main(["gate", "results", "--expected", "expected.yaml", "--format", form, "--allow-wide-baseline"])
        return capsys.readouterr().out

    return gate


def test_the_gate_as_the_comment_on_a_pull_request(report: Any, golden: Callable[[str, str], None]) -> None:
    golden("gate.md", report("markdown"))


@pytest.mark.parametrize("text", ["</details> <img src=x>", "`` ` ```", "@everyone [a](b)", "a\n# b", "x" * 9000])
def test_a_message_stays_in_its_line_of_a_comment(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = Outcome(DONE, Status.FAILED, Level.MUST, 1, (Finding("/0", text, Level.MUST),))
    case = Case("plain-answer", "stream", Evidence.LIVE, (failed,))
    write(tmp_path, Results("example", "m", (case,)))
    assert 1 == main(["gate", str(tmp_path), "--format", "markdown"])
    line = next(each for each in capsys.readouterr().out.splitlines() if each.startswith("- "))
    assert re.fullmatch(r"- `[^`]+` at `/0` — (`+)(?!`).+(?<!`)\1", line)
    assert len(line) < 500


def line_of(text: str) -> int:
    shown = Path("results/example.json").read_text().splitlines()
    return next(number for number, line in enumerate(shown, 1) if text in line)


def test_junit_has_a_suite_per_case_and_a_test_per_check(report: Any) -> None:
    root = parse_xml(report("junit"))
    endings = {(suite.get("name"), test.get("name")): [each.tag for each in test] for suite in root for test in suite}
    case = "example/plain-answer.stream"
    assert {
        (case, DONE): ["skipped"],
        (case, ROLE): [],
        (case, USAGE): ["system-out"],
        (case, LATE): ["failure"],
        (case, "stream/errs"): ["error"],
        (case, "probes/ids-empty"): ["failure"],
        ("example/one-tool-call.plain", "gate/case-judges-something"): ["failure"],
        ("expected failures", "gate/expected-failure-fails"): ["failure"],
        ("expected failures", "gate/entry-matches"): ["failure"],
    } == endings


def test_sarif_has_lines_of_results_and_of_the_baseline(report: Any) -> None:
    log = json.loads(report("sarif"))
    assert [] == list(Draft4Validator(SCHEMA).iter_errors(log))
    (run,) = log["runs"]
    lines = {}
    for result in run["results"]:
        physical = result["locations"][0]["physicalLocation"]
        lines[result["ruleId"]] = (physical["artifactLocation"]["uri"], physical["region"]["startLine"])
    # The object of an outcome begins on the line before its first member.
    results = "results/example.json"
    assert {
        DONE: (results, line_of(DONE) - 1),
        USAGE: (results, line_of(USAGE) - 1),
        LATE: (results, line_of(LATE) - 1),
        "probes/ids-empty": (results, line_of("ids-empty") - 1),
        "gate/case-judges-something": (results, line_of("one-tool-call") - 1),
        "gate/expected-failure-fails": ("expected.yaml", 5),
        "gate/entry-matches": ("expected.yaml", 9),
    } == lines
    assert [DONE] == [each["ruleId"] for each in run["results"] if "suppressions" in each]
    assert not run["invocations"][0]["executionSuccessful"]


def test_github_annotates_what_closes_the_gate(report: Any) -> None:
    shown = report("github").splitlines()
    assert "::error file=expected.yaml,line=5,title=gate/expected-failure-fails MUST::" in "\n".join(shown)
    assert "conformance: 6 errors, 1 warning, 1 notice" == shown[-1]


def test_a_pass_of_an_adapter_has_the_location_of_its_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    case = Case("plain-answer", "stream", Evidence.SIMULATED, (outcome(ROLE, Status.PASSED),))
    results = Results("sdk@1", "m", (case,), "deepseek")
    Path("a.json").write_bytes(orjson.dumps(results.to_json(), option=orjson.OPT_INDENT_2))
    assert 0 == main(["gate", "a.json", "--format", "junit"])
    (test,) = parse_xml(capsys.readouterr().out).iter("testcase")
    place = tuple(map(test.get, ("classname", "file", "line")))
    # The object of a case begins on the line before its first member.
    line = next(number for number, each in enumerate(Path("a.json").read_text().splitlines()) if "scenario" in each)
    assert ("sdk@1/deepseek/plain-answer.stream", "a.json", str(line)) == place


def test_a_failed_result_has_its_own_location(tmp_path: Path) -> None:
    value = Results("example", "m", (Case("plain-answer", "stream", Evidence.LIVE, (outcome(DONE, Status.FAILED),)),))
    text = orjson.dumps(value.to_json(), option=orjson.OPT_INDENT_2).decode()
    path = tmp_path / "example.json"
    path.write_text(text)
    line = next(number for number, each in enumerate(text.splitlines(), 1) if DONE in each)
    # The object of an outcome begins on the line before its first member.
    expected = Location(str(path), line - 1)
    assert expected == locations(read_with_paths([path]))[f"example/plain-answer.stream/{DONE}"]
