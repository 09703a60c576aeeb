"""Annotations in the formats that other programs read, and a badge: golden files with every kind of annotation."""

from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version

import pytest

from conformance.reporting.matrix.annotations import ENTRIES, Annotation, AnnotationKind, Location
from conformance.reporting.matrix.counts import CheckCounts
from conformance.reporting.renderers import badge, github, junit, sarif
from conformance.results import Level

ANSWERS, CASE = "transcript/result-answers-call", "groq/one-tool-call.stream"
FILE = "results/groq.json"
ANNOTATIONS = (
    Annotation(
        "a.jsonl:2",
        ANSWERS,
        AnnotationKind.FAILED,
        Level.MUST,
        "expected 'a', got 'b'",
        "/0/request",
        Location("a.jsonl", 2),
    ),
    Annotation("a.jsonl:2", "stream/role-first", AnnotationKind.PASSED, location=Location("a.jsonl", 2)),
    Annotation(
        "b.json",
        "usage/sums-up",
        AnnotationKind.NOTED,
        Level.MAY,
        "expected 3, got 4",
        "/0/response",
        Location("b.json"),
    ),
    Annotation(
        "c.json",
        "input/can-be-read",
        AnnotationKind.ERRORED,
        message="c.json:1: expected JSON",
        location=Location("c.json", 1),
    ),
    Annotation(
        CASE,
        ANSWERS,
        AnnotationKind.EXPECTED,
        Level.MUST,
        "50% <of> it,\nhere",
        "/1",
        Location(FILE, 4),
        "Known. https://e.org",
    ),
    Annotation(
        CASE,
        "probes/ids-empty",
        AnnotationKind.FAILED,
        message="expected 400, observed accepted",
        location=Location(FILE, 9),
    ),
    Annotation(
        ENTRIES,
        "gate/entry-matches",
        AnnotationKind.FAILED,
        message="a/b: it matches nothing",
        location=Location("e.yaml", 7),
    ),
)


@pytest.mark.parametrize(
    ("render", "name"),
    [(junit.render, "annotations.xml"), (sarif.render, "annotations.sarif"), (github.render, "annotations.txt")],
)
def test_annotations_match_their_golden_file(
    render: Callable[[Iterable[Annotation]], Iterator[str]], name: str, golden: Callable[[str, str], None]
) -> None:
    shown = "".join(render(ANNOTATIONS)).replace(f'"version": "{version("wire-conformance")}"', '"version": "…"')
    golden(name, shown)


def test_a_badge_matches_its_golden_file(golden: Callable[[str, str], None]) -> None:
    golden("badge.svg", badge.render_svg(CheckCounts(41, 2, 7), "wire conformance"))
