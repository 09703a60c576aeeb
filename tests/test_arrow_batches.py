"""Batches: what their borders mean, what is kept in memory, and rows that hold anything."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance import check
from conformance.arrow import FIELDS, check_batches, check_table, ddl
from conformance.cli import main
from conformance.documents.bounds import Bounds
from conformance.formats import read_path
from tests.arrow_rows import RECORDS, SESSIONS, one_by_one, split, table, text
from tests.checking import BASES, ENVIRONMENT, FAULTY, jsonl, write

pa = pytest.importorskip("pyarrow", reason="NOT RUN: pyarrow is not installed, so nothing here was tested")


def test_only_the_conversation_of_the_last_row_crosses_the_border_of_a_batch() -> None:
    whole = BASES["thinking-session"]
    rows = table([whole[0], whole[0], whole[1], whole[1]], session=pa.array(["a", "b", "b", "a"]))

    def positions(*sizes: int) -> list[int]:
        batches = [batch for batch in split(rows, sizes) if batch]
        found = [row for batch in check_batches(batches, per="exchange") for row in batch.to_pylist()]
        return [row["position"] for row in sorted(found, key=lambda row: row["row"])]

    assert [0, 0, 1, 1] == positions()
    assert [0, 0, 1, 0] == positions(2)
    assert [0, 0, 1, 0] == positions(1, 1, 1)


def test_a_border_only_hides_findings() -> None:
    for session in (each for each in SESSIONS if len(each) > 1):
        whole = one_by_one([("a", each) for each in session], None)
        apart = one_by_one([("", each) for each in session], None)
        assert {row[:3] for row in apart} <= {row[:3] for row in whole}


def test_batches_are_consumed_as_results_are() -> None:
    (batch,) = table([FAULTY] * 600).combine_chunks().to_batches()
    taken = []

    def source() -> Iterator[Any]:
        for number in range(1000):
            taken.append(number)
            yield batch

    results = check_batches(source(), rules="transcript/calls-answered", per="exchange")
    assert 1024 == next(results).num_rows
    assert [0, 1] == taken


def test_a_rule_that_raises_is_a_row_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from conformance import arrow, rules

    def broken(*_: Any) -> Any:
        message = "no"
        raise ValueError(message)

    (rule,) = rules.select(("transcript/calls-answered",))
    from dataclasses import replace

    monkeypatch.setattr(arrow, "_rules", lambda _: (replace(rule, judge=broken),))
    (found,) = check_table(table([FAULTY])).to_pylist()
    (row,) = check_table(table([FAULTY]), per="exchange").to_pylist()
    expected = "rule transcript/calls-answered raised ValueError: no; this is a bug in conformance"
    assert [expected, expected] == [found["error"], row["error"]]
    assert "transcript/calls-answered" == found["rule"]


def test_the_module_loads_without_pyarrow_and_names_the_extra() -> None:
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from conformance.arrow import check_batches, ddl\n"
        "print(ddl())\n"
        "try: check_batches([])\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    run = subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert ddl() == run.stdout.splitlines()[0]
    assert "Unusable pyarrow is not installed: pip install 'wire-conformance[arrow]'" == run.stdout.splitlines()[1]


def test_the_same_rows_as_lines_have_the_same_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [{**each, **{name: text(each.get(name)) for name in ("request", "response")}} for each in RECORDS]
    main(["check", "--format", "jsonl", "--provider", "deepseek", str(write(tmp_path / "a.jsonl", jsonl(*records)))])
    reports = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    expected = [
        (report["line"] - 1, outcome["rule"], finding["level"], finding["at"], finding["message"])
        for report in reports
        if report.get("line")
        for outcome in report["outcomes"]
        for finding in outcome["findings"]
    ]
    found = check_table(table(records), "deepseek").to_pylist()
    assert expected == [tuple(row[name] for name in ("row", "rule", "level", "at", "message")) for row in found]


@pytest.mark.exhaustive
def test_rows_of_recordings_are_what_check_finds_one_by_one(shared: Path) -> None:
    exchanges = [
        each
        for path in sorted((shared / "recordings").glob("*.jsonl.gz"))
        for found in read_path(path)
        for each in found.conversation
    ]
    columns = {
        "request": pa.array([text(each.request) for each in exchanges], pa.string()),
        "response": pa.array([text(each.response) for each in exchanges], pa.string()),
        "status": pa.array([each.status for each in exchanges], pa.int32()),
        "headers": pa.array([json.dumps(dict(each.headers)) for each in exchanges]),
        "stream": [each.streamed for each in exchanges],
        "url": [each.url for each in exchanges],
        "model": [each.model for each in exchanges],
        "time": [each.date for each in exchanges],
    }
    rows = check_table(pa.table(columns), "deepseek").to_pylist()
    expected = [
        (number, outcome.rule, finding.level.value, finding.at, finding.message)
        for number, each in enumerate(exchanges)
        for outcome in check(each, "deepseek")
        for finding in outcome.findings
    ]
    names = ("row", "rule", "level", "at", "message")
    assert len(exchanges) > 3000
    assert expected == [tuple(row[name] for name in names) for row in rows if row["rule"]]


CELLS = st.one_of(
    st.none(),
    st.binary(max_size=40),
    st.sampled_from([text(each.get(part)) or "" for each in RECORDS for part in ("request", "response")]).map(
        str.encode
    ),
    st.sampled_from(
        [b"null", b"5", b"[]", b"{}", b'""', b'{"messages": 5}', b'{"choices": [5]}', b"data: 5\n\n", b"[[", b'["a"]']
    ),
)


@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS, st.integers(-(2**31), 2**31 - 1) | st.none()), max_size=6),
    per=st.sampled_from(sorted(FIELDS)),
)
@settings(max_examples=settings().max_examples // 5, suppress_health_check=[HealthCheck.too_slow])
def test_any_bytes_give_results_for_every_row_and_raise_nothing(rows: list[tuple[Any, ...]], per: str) -> None:
    types = {"request": pa.binary(), "response": pa.binary(), "headers": pa.binary(), "status": pa.int32()}
    columns = {name: pa.array([row[at] for row in rows], types[name]) for at, name in enumerate(types)}
    found = check_table(pa.table(columns), per=per).to_pylist()
    if per == "exchange":
        assert list(range(len(rows))) == [row["row"] for row in found]
        # A first request of another wire may hold nothing that a rule looks at, and says so.
        assert all(row["error"] is not None or row["judged"] is not None for row in found)
    else:
        assert all(row["error"] is not None or row["rule"] is not None for row in found)


def test_a_conversation_ends_before_its_bodies_exceed_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    body = json.dumps(FAULTY["request"])
    monkeypatch.setattr("conformance.formats.rows.BOUNDS", Bounds(bytes=2 * len(body)))
    rows = pa.table({"request": [body] * 5, "session": ["a"] * 5})
    batches = [rows.slice(at, 1).to_batches()[0] for at in range(5)]
    found = [row for batch in check_batches(batches, per="exchange") for row in batch.to_pylist()]
    assert [0, 1, 0, 1, 0] == [row["position"] for row in found]
