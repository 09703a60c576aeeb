"""Workflow commands: their form and number, and that no text from the wire becomes a command."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.reporting.matrix.annotations import Annotation, AnnotationKind, Location
from conformance.reporting.renderers.github import MAX_ANNOTATIONS, render
from conformance.results import Level
from tests.checking import FAULTY, check, write

ANSWERS = "transcript/result-answers-call"


def lines(*annotations: Annotation) -> list[str]:
    return "".join(render(annotations)).split("\n")[:-1]


@pytest.mark.parametrize(
    ("kind", "level", "command"),
    [
        (AnnotationKind.FAILED, Level.MUST, "error"),
        (AnnotationKind.FAILED, Level.SHOULD, "warning"),
        (AnnotationKind.NOTED, Level.MAY, "notice"),
        (AnnotationKind.EXPECTED, Level.MUST, "notice"),
        (AnnotationKind.ERRORED, Level.SHOULD, "error"),
    ],
)
def test_an_annotation_has_the_severity_of_its_finding(kind: AnnotationKind, level: Level, command: str) -> None:
    first, last = lines(Annotation("a", ANSWERS, kind, level, "m", location=Location("a.json", 2)))
    assert f"::{command} file=a.json,line=2,title={ANSWERS} {level.value}::a: m" == first.partition(";")[0]
    assert f"conformance: 1 {command}" == last


def test_a_pass_is_not_annotated() -> None:
    assert ["conformance: no findings"] == lines(Annotation("a", ANSWERS, AnnotationKind.PASSED))


def test_properties_and_data_are_escaped_as_github_reads_them() -> None:
    first, _ = lines(
        Annotation("a", "a:b,c%", AnnotationKind.FAILED, message="50%\r\n::error::x", location=Location("d,e:f.json"))
    )
    assert "::error file=d%2Ce%3Af.json,title=a%3Ab%2Cc%25 MUST::a: 50%25%0D%0A::error::x" == first


@given(st.text(), st.text())
def test_nothing_from_the_wire_begins_a_command(name: str, message: str) -> None:
    shown = "".join(
        render([Annotation(name, name, AnnotationKind.FAILED, message=message, at=name, location=Location(name))])
    )
    assert 2 == len(shown.splitlines())


def test_annotations_are_limited_and_the_others_are_counted() -> None:
    many = [Annotation("a", ANSWERS, AnnotationKind.FAILED, message="m")] * (MAX_ANNOTATIONS + 3)
    shown = lines(*many, Annotation("a", ANSWERS, AnnotationKind.FAILED, Level.SHOULD, "m"))
    assert MAX_ANNOTATIONS + 2 == len(shown)
    assert "conformance: 13 errors, 1 warning; 3 not annotated" == shown[-1]


def test_a_check_annotates_the_line_of_a_finding(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", FAULTY)
    code, out, _ = check(path, "--format", "github", "--rule", ANSWERS)
    assert (1, f"::error file={path},line=1,title={ANSWERS} MUST (client on chat)") == (code, out.rpartition("::")[0])
