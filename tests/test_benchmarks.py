"""The benchmarks measure what they say, and notice a regression."""

import json
from pathlib import Path

import pytest

from conformance import Exchange, Status, check
from tests.benchmarks import corpus, shares
from tests.benchmarks.__main__ import BASELINE, BOUNDS, regressions
from tests.benchmarks.peers import PEERS, Part
from tests.checking import ROOT


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


def test_the_shares_of_the_parts_add_up_and_each_has_one() -> None:
    found = shares.shares(Part(corpus.recorded(12), Path()), "deepseek", rounds=1)
    assert pytest.approx(1) == sum(found.values())
    assert {*shares.PARTS, shares.OTHER} == set(found)
    assert [] == [part for part in shares.PARTS if not found[part]]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (("/a/conformance/wire/sse.py", 3, "read"), "reading and assembling streams"),
        (("/a/conformance/wire/index.py", 3, "calls"), "finding turns, results and replies"),
        (("/a/conformance/rules/validation.py", 3, "x"), "errors of the schemas"),
        (("/a/conformance/rules/stream/complete.py", 3, "judge"), "rules"),
        (("~", 0, "<built-in method orjson.loads>"), "parsing JSON (orjson)"),
        (("~", 0, "<built-in method builtins.len>"), ""),
        (("/usr/lib/python3.11/json/decoder.py", 3, "x"), shares.OTHER),
    ],
)
def test_a_function_belongs_to_the_first_part_that_fits(function: tuple[str, int, str], expected: str) -> None:
    assert expected == shares.part_of(function)


def test_the_page_has_the_shares_of_every_part() -> None:
    (shown,) = shares.MARKED.findall((ROOT / "docs" / "cluster.md").read_text("utf-8"))
    assert [*shares.PARTS, shares.OTHER] == [
        line.split("|")[1].strip() for line in shown.splitlines()[2:] if "%" in line
    ]
