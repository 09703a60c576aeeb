"""Badges: observed and declared checks are counted separately, and the image is readable."""

import json
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cli import main
from conformance.reporting.matrix.counts import CheckCounts, count
from conformance.reporting.renderers.badge import render_shields, render_svg
from conformance.results import Evidence, Finding, Level, Outcome, Status
from conformance.results.runs import Case, Results
from tests.xml_text import parse_xml

SVG = "{http://www.w3.org/2000/svg}"


def case(evidence: Evidence, *statuses: Status, level: Level = Level.MUST, variant: str = "plain") -> Case:
    found = (Finding("/0", "expected a, got b", level),)
    outcomes = [
        Outcome(f"stream/fact-{number}", status, level, 1, found if status is Status.FAILED else ())
        for number, status in enumerate(statuses)
    ]
    return Case("plain-answer", variant, evidence, tuple(outcomes))


@pytest.mark.parametrize(
    ("cases", "provider", "expected"),
    [
        ([case(Evidence.LIVE, Status.PASSED, Status.FAILED)], "", CheckCounts(1, 1, 0)),
        ([case(Evidence.ENGINE, Status.FAILED, level=Level.SHOULD)], "", CheckCounts(1, 0, 0)),
        ([case(Evidence.RECORDED, Status.UNTESTED, Status.ERRORED)], "", CheckCounts(0, 2, 0)),
        ([case(Evidence.SIMULATED, Status.PASSED, Status.PASSED)], "", CheckCounts(0, 0, 2)),
        ([case(Evidence.SIMULATED, Status.PASSED)], "deepseek", CheckCounts(1, 0, 0)),
        ([case(Evidence.LIVE, Status.NOT_APPLICABLE)], "", CheckCounts()),
        (
            [case(Evidence.LIVE, Status.PASSED), case(Evidence.LIVE, Status.FAILED, variant="stream")],
            "",
            CheckCounts(0, 1),
        ),
        (
            [
                case(Evidence.LIVE, Status.PASSED),
                case(Evidence.SIMULATED, Status.PASSED, Status.PASSED, variant="stream"),
            ],
            "",
            CheckCounts(1, 0, 1),
        ),
    ],
)
def test_each_check_counts_once_and_by_its_evidence(cases: list[Case], provider: str, expected: CheckCounts) -> None:
    assert expected == count([Results("example", "m", tuple(cases), provider)])


@pytest.mark.parametrize(
    ("counted", "message"),
    [
        (CheckCounts(3, 0, 0), "3 of 3 conform"),
        (CheckCounts(3, 1, 4), "3 of 4 conform, 4 declared"),
        (CheckCounts(0, 0, 4), "4 declared"),
        (CheckCounts(), "nothing checked"),
    ],
)
def test_a_badge_shows_observed_and_declared_checks(counted: CheckCounts, message: str) -> None:
    assert message == json.loads(render_shields(counted, "wire"))["message"]
    assert f"wire: {message}" == parse_xml(render_svg(counted, "wire")).findtext(f"{SVG}title")


def test_only_a_failure_is_an_error_to_shields() -> None:
    shown = json.loads(render_shields(CheckCounts(3, 1), "wire"))
    assert {"schemaVersion": 1, "label": "wire", "message": "3 of 4 conform", "isError": True} == {
        name: value for name, value in shown.items() if name != "color"
    }
    assert "isError" not in json.loads(render_shields(CheckCounts(3), "wire"))


@given(st.text(max_size=40))
def test_an_image_is_wide_enough_for_any_label(label: str) -> None:
    root = parse_xml(render_svg(CheckCounts(1), label))
    left, right = root.findall(f"{SVG}rect")
    assert int(root.get("width", 0)) == int(left.get("width", 0)) + int(right.get("width", 0))
    assert int(left.get("width", 0)) >= 4 * len(label)
    assert root.get("aria-label") == root.findtext(f"{SVG}title")
    assert [] == [each for each in root.iter() if each.tag not in {f"{SVG}{name}" for name in TAGS}]


TAGS = ("svg", "title", "rect", "g", "text")


def test_the_command_prints_both_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "example.json"
    path.write_bytes(orjson.dumps(Results("example", "m", (case(Evidence.SIMULATED, Status.PASSED),)).to_json()))
    assert 0 == main(["report", "badge", str(path)])
    svg = capsys.readouterr().out
    assert 0 == main(["report", "badge", "--format", "shields", "--label", "a", str(tmp_path)])
    assert ("1 declared", True) == (json.loads(capsys.readouterr().out)["message"], svg.startswith("<svg "))
