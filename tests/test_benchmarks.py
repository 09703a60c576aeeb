"""The benchmarks measure what they say, and notice a regression."""

import json

import pytest

from conformance import Exchange, Status, check
from tests.benchmarks import corpus
from tests.benchmarks.__main__ import BASELINE, BOUNDS, regressions
from tests.benchmarks.peers import PEERS


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"agent: check": 4.7}, []),
        ({"agent: check": 4.9}, ["agent: check: 4.90, 1.23 times the baseline's 4.00"]),
        ({"agent: jsonschema": 900.0}, []),
        ({"start: help": 9.0}, ["start: help: 9.00, 3.00 times the baseline's 3.00"]),
    ],
)
def test_a_ratio_of_this_project_may_exceed_the_baseline_by_a_fifth(
    found: dict[str, float], expected: list[str]
) -> None:
    before = {"agent: check": 4.0, "agent: jsonschema": 100.0, "start: help": 3.0}
    assert expected == regressions(before | found, before)


def test_the_baseline_has_every_ratio_with_a_bound() -> None:
    assert set() == set(BOUNDS) - set(json.loads(BASELINE.read_text("utf-8"))["ratios"])


def test_peers_are_not_bound() -> None:
    assert not [name for name in BOUNDS if name.partition(": ")[2] in PEERS]


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert corpus.recorded(5) == corpus.recorded(5)


@pytest.mark.parametrize("faulty", [False, True])
def test_requests_of_agents_have_findings_only_where_they_should(faulty: bool) -> None:  # noqa: FBT001 — a parameter
    ((sample,),) = corpus.agent(1, faulty=faulty)
    outcomes = check(Exchange(sample.request, sample.reply, sample.status))
    expected = ["request/no-local-only-fields", "transcript/calls-answered"] if faulty else []
    assert expected == [
        outcome.rule for outcome in outcomes if outcome.status not in (Status.PASSED, Status.NOT_APPLICABLE)
    ]


def test_the_floor_counts_every_text_of_a_line() -> None:
    ((sample,),) = corpus.agent(1)
    record = json.loads(sample.line("a"))
    assert (json.loads(sample.request), "a") == (record["request"], record["session"])
    assert [json.loads(event) for event in sample.events] == [
        json.loads(line.removeprefix("data: ")) for line in record["response"].split("\n\n")[:-2]
    ]
