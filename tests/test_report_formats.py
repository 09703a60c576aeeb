"""The reports that other programs read, whole: each thing that can be said, in each of their formats."""

from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from conformance.reporting.matrix.annotations import ENTRIES, Kind, Place, Remark
from conformance.reporting.matrix.counts import Standing
from conformance.reporting.renderers import badge, github, junit, sarif
from conformance.results import Level

GOLDEN = Path(__file__).parent / "golden"
ANSWERS, CASE = "transcript/result-answers-call", "groq/one-tool-call.stream"
FILE = "results/groq.json"
REMARKS = (
    Remark("a.jsonl:2", ANSWERS, Kind.FAILED, Level.MUST, "expected 'a', got 'b'", "/0/request", Place("a.jsonl", 2)),
    Remark("a.jsonl:2", "stream/role-first", Kind.PASSED, place=Place("a.jsonl", 2)),
    Remark("b.json", "usage/sums-up", Kind.NOTED, Level.MAY, "expected 3, got 4", "/0/response", Place("b.json")),
    Remark("c.json", "input/can-be-read", Kind.ERRORED, message="c.json:1: expected JSON", place=Place("c.json", 1)),
    Remark(
        CASE, ANSWERS, Kind.EXPECTED, Level.MUST, "50% <of> it,\nhere", "/1", Place(FILE, 4), "Known. https://e.org"
    ),
    Remark(CASE, "probes/ids-empty", Kind.FAILED, message="expected 400, observed accepted", place=Place(FILE, 9)),
    Remark(ENTRIES, "gate/entry-matches", Kind.FAILED, message="a/b: it matches nothing", place=Place("e.yaml", 7)),
)


@pytest.mark.parametrize(
    ("render", "name"),
    [(junit.render, "remarks.xml"), (sarif.render, "remarks.sarif"), (github.render, "remarks.txt")],
)
def test_a_report_is_as_it_was_read_and_found_good(
    render: Callable[[Iterable[Remark]], Iterator[str]], name: str
) -> None:
    shown = "".join(render(REMARKS)).replace(f'"version": "{version("wire-conformance")}"', '"version": "…"')
    assert (GOLDEN / name).read_text("utf-8") == shown


def test_a_badge_is_as_it_was_looked_at_and_found_good() -> None:
    assert (GOLDEN / "badge.svg").read_text("utf-8") == badge.render_svg(Standing(41, 2, 7), "wire conformance")
