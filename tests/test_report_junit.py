"""JUnit XML: its form and totals, and that it stays XML whatever came over the wire."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.reporting.matrix.annotations import Annotation, AnnotationKind, Location
from conformance.reporting.renderers.junit import render
from conformance.results import Level
from tests.checking import FAULTY, GOOD, check, jsonl, write
from tests.xml_text import parse_xml

ANSWERS = "transcript/result-answers-call"


def parsed(*annotations: Annotation) -> ET.Element:
    return parse_xml("".join(render(annotations)))


@pytest.mark.parametrize(
    ("kind", "element", "count"),
    [
        (AnnotationKind.PASSED, None, None),
        (AnnotationKind.NOTED, "system-out", None),
        (AnnotationKind.FAILED, "failure", "failures"),
        (AnnotationKind.ERRORED, "error", "errors"),
        (AnnotationKind.EXPECTED, "skipped", "skipped"),
    ],
)
def test_a_check_is_a_test_with_the_same_result(kind: AnnotationKind, element: str | None, count: str | None) -> None:
    annotation = Annotation(
        "groq/a.plain", ANSWERS, kind, message="expected a, got b", at="/0/x", reason="It is known."
    )
    root = parsed(annotation)
    (suite,) = root
    (test,) = suite
    assert ("testsuites", "testsuite", "testcase") == (root.tag, suite.tag, test.tag)
    assert ("groq/a.plain", ANSWERS) == (test.get("classname"), test.get("name"))
    assert ([] if element is None else [element]) == [each.tag for each in test]
    counts = {name: "1" if name == count else "0" for name in ("failures", "errors", "skipped")} | {"tests": "1"}
    assert counts == {name: suite.get(name) for name in counts}
    if kind is AnnotationKind.EXPECTED:
        assert "It is known." == test[0].get("message")
    if element is not None:
        assert "at /0/x: expected a, got b" in (test[0].text or "")


def test_findings_of_one_rule_are_one_test_and_the_worst_counts() -> None:
    noted, failed = (
        Annotation("a.json", ANSWERS, kind, message=kind.value)
        for kind in (AnnotationKind.NOTED, AnnotationKind.FAILED)
    )
    (suite,) = parsed(noted, failed)
    (failure,) = suite.iter("failure")
    assert ("1", "failed", 2) == (suite.get("tests"), failure.get("message"), len((failure.text or "").splitlines()))


def test_a_test_has_its_file_and_line() -> None:
    (test,) = parsed(Annotation("a", ANSWERS, AnnotationKind.FAILED, location=Location("a.json", 7))).iter("testcase")
    assert ("a.json", "7") == (test.get("file"), test.get("line"))


@given(st.text())
def test_any_text_is_kept_and_characters_that_xml_forbids_are_escaped(text: str) -> None:
    root = parsed(
        *[Annotation(text, text, kind, Level.MUST, text, text, Location(text), text) for kind in AnnotationKind]
    )
    assert 1 == len(list(root.iter("testcase")))


def test_a_control_character_is_escaped_as_in_python() -> None:
    (failure,) = parsed(Annotation("a", ANSWERS, AnnotationKind.FAILED, message="\x1b[31m\x00<&]]>")).iter("failure")
    assert "\\x1b[31m\\x00<&]]>" == failure.get("message")


def test_a_report_has_passed_rules_but_none_that_did_not_apply(tmp_path: Path) -> None:
    code, out, _ = check(write(tmp_path / "a.jsonl", jsonl(GOOD, FAULTY)), "--format", "junit")
    root = parse_xml(out)
    failed = [test.get("name") for test in root.iter("testcase") if test.find("failure") is not None]
    assert (1, ["transcript/calls-answered", ANSWERS]) == (code, failed)
    assert [f"{tmp_path}/a.jsonl:{line}" for line in (1, 2)] == [each.get("name") for each in root]
    assert len(list(root.iter("testcase"))) > len(failed)
    assert [] == list(root.iter("skipped"))


def test_a_suite_is_written_before_the_next_input_is_read() -> None:
    def annotations() -> Iterator[Annotation]:
        yield Annotation("a", ANSWERS, AnnotationKind.PASSED)
        yield Annotation("b", ANSWERS, AnnotationKind.PASSED)
        message = "nobody asks for more"
        raise AssertionError(message)

    pieces = render(annotations())
    assert '<testsuite name="a"' in next(pieces) + next(pieces)


def test_an_input_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    code, out, _ = check(write(tmp_path / "a.json", "{"), "--format", "junit")
    root = parse_xml(out)
    assert (2, "1", 1) == (code, root[0].get("errors"), len(list(root.iter("error"))))
