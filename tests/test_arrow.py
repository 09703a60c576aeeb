"""Arrow batches: the rows are what `check` finds, whatever the batches, and no row is lost."""

import gzip
import json
import pickle
import re
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance import Exchange, check, load_profile, profiles
from conformance.arrow import FIELDS, check_batches, check_table, ddl, schema
from conformance.documents.pointer import REMOVE, edit
from conformance.errors import UnknownName, Unusable
from tests.arrow_rows import BAD, DAY, NEVER_JSON, RECORDS, TEXTS, one_by_one, split, table
from tests.checking import BASES, FAULTY, ROOT, STREAM
from tests.loops import every

pa = pytest.importorskip("pyarrow", reason="NOT RUN: pyarrow is not installed, so nothing here was tested")


@given(
    sessions=st.lists(st.lists(st.sampled_from(RECORDS + BAD), min_size=1, max_size=4), max_size=5),
    named=st.booleans(),
    sizes=st.lists(st.integers(1, 4), max_size=8),
    kind=st.sampled_from(TEXTS),
    provider=st.sampled_from([None, "deepseek", "mistral"]),
)
@settings(max_examples=settings().max_examples // 5, suppress_health_check=[HealthCheck.too_slow])
def test_rows_are_what_check_finds_whatever_the_batches(
    sessions: list[list[dict[str, Any]]],
    named: bool,  # noqa: FBT001 — drawn
    sizes: list[int],
    kind: str,
    provider: str | None,
) -> None:
    rows = [(f"s{number}" if named else "", each) for number, session in enumerate(sessions) for each in session]
    whole = table([each for _, each in rows], kind, session=pa.array([name for name, _ in rows], pa.string()))
    batches = [batch for batch in split(whole, sizes) if batch]
    every = [row for batch in check_batches(batches, provider, as_of=DAY) for row in batch.to_pylist()]
    found = [row for row in every if row["known"] is None]
    names = ("row", "rule", "level", "at", "message")
    assert one_by_one(rows, provider) == sorted([tuple(row[name] for name in names) for row in found], key=repr)
    assert all(row["id"] == f"row {row['row']}" for row in found)
    assert all((row["error"] is None) is (row["rule"] is not None) for row in found)


def test_what_claims_describe_is_counted_and_no_finding() -> None:
    (plain,) = edit(BASES["plain"], {"/0/response/object": REMOVE, "/0/response/created": REMOVE})
    (stream,) = edit(BASES["stream-plain"], {"/0/response/1/object": REMOVE, "/0/response/2/object": REMOVE})
    claims = profiles.of({"reply.object": "absent", "stream.object": ["absent"], "reply.omitted-fields": ["created"]})
    rows = check_table(table([plain, stream]), claims).to_pylist()
    shown = [(row["row"], row["level"], row["known"], row["count"], row["at"]) for row in rows]
    assert [
        (0, None, "reply.object", 1, "/0/response"),
        (0, None, "reply.omitted-fields", 1, "/0/response"),
        (1, None, "stream.object", 2, "/0/response/1"),
    ] == sorted(shown)
    by_exchange = check_table(table([plain, stream]), claims, per="exchange").to_pylist()
    assert [(0, 0, 2), (0, 0, 2)] == [(row["must"], row["should"], row["known"]) for row in by_exchange]


@pytest.mark.parametrize("per", FIELDS)
def test_what_comes_out_has_the_published_schema(per: str) -> None:
    results = check_table(table(RECORDS + BAD), per=per)
    assert schema(per) == results.schema
    assert [(field.name, field.type) for field in FIELDS[per]] == [
        (field.name, str(field.type).replace("item: ", "").replace("element: ", "")) for field in results.schema
    ]
    assert schema(per) == check_table(table([]), per=per).schema
    assert [f"`{field.name}`" for field in FIELDS[per]] == [column.split()[0] for column in ddl(per).split(", ")]


@pytest.mark.parametrize("per", FIELDS)
def test_the_page_documents_every_field(per: str) -> None:
    page = (ROOT / "docs" / "cluster.md").read_text("utf-8")
    rows = [f"| `{field.name}` | {field.type} | {field.meaning} |" for field in FIELDS[per]]
    assert "\n".join(rows) in page


def test_every_row_of_the_input_is_one_row_per_exchange() -> None:
    records = RECORDS + BAD
    found = check_table(table(records), "deepseek", per="exchange").to_pylist()
    findings = check_table(table(records), "deepseek").to_pylist()
    assert list(range(len(records))) == [row["row"] for row in found]
    assert [record in BAD for record in records] == [row["error"] is not None for row in found]
    for row in found:
        own = [each for each in findings if each["row"] == row["row"] and each["rule"]]
        if row["error"] is None:
            counts = [len([each for each in own if each["level"] == level]) for level in ("MUST", "SHOULD", "MAY")]
            assert counts == [row["must"], row["should"], row["may"]]
            assert sorted({each["rule"] for each in own}) == row["rules"]
            assert row["judged"] > 0 or "messages" not in (records[row["row"]].get("request") or {})


@every(
    ("expected", "cells"),
    [
        ("row: expected a request or a response, got null", {"request": None, "response": None}),
        ("request: ", {"request": NEVER_JSON.encode()}),
        ("request: ", {"request": b""}),
        ("request: ", {"request": b'{"model": "\xff"}'}),
        ("response: expected complete gzip data, got truncated data", {"response": gzip.compress(b"{}" * 99)[:-9]}),
        ("headers: expected a key", {"response": b"{}", "headers": b"{"}),
        ("headers: expected an object, or a list of names and values, got 5", {"response": b"{}", "headers": b"5"}),
        ("headers: expected a name and a value, got 'a'", {"response": b"{}", "headers": b'["a"]'}),
        ("row: expected a request or a response, got null", {"request": b"null", "response": b"null"}),
    ],
)
@every("per", FIELDS)
def test_a_row_that_cannot_be_read_is_a_row_with_an_error(per: str, expected: str, cells: dict[str, Any]) -> None:
    good = {"request": json.dumps(FAULTY["request"]).encode()}
    rows = [{"request": None, "response": None, "headers": None, **each} for each in (good, cells, good)]
    found = check_table(pa.Table.from_pylist(rows), per=per).to_pylist()
    (broken,) = [row for row in found if row["error"] is not None]
    assert broken["error"].startswith(expected)
    assert (1, []) == (
        broken["row"],
        [value for name, value in broken.items() if name not in ("row", "error") and value],
    )
    assert {0, 2} == {row["row"] for row in found} - {1}


@pytest.mark.parametrize(
    ("expected", "request_"),
    [
        ("expected a JSON object, got 5", "5"),
        ("expected a JSON object, got a list", "[]"),
        ("expected a JSON object, got JSON that was encoded twice", json.dumps("{}")),
    ],
)
def test_a_request_that_is_no_object_is_a_finding_and_the_reply_is_checked(expected: str, request_: str) -> None:
    reply = STREAM[:-40]
    cells = {"request": request_, "response": reply}
    found = check_table(pa.Table.from_pylist([cells])).to_pylist()
    (row,) = check_table(pa.Table.from_pylist([cells]), per="exchange").to_pylist()
    rules = [outcome.rule for outcome in check(Exchange(request_, reply)) if outcome.findings]
    assert (rules, rules) == (row["rules"], [each["rule"] for each in found])
    assert expected in [each["message"] for each in found if each["rule"] == "http/request-body-is-object"]
    assert len(rules) > 1
    assert {None} == {each["error"] for each in (row, *found)}


@pytest.mark.parametrize(
    ("expected", "response"),
    [
        ("expected a JSON object, got empty text", ""),
        ("expected a JSON object, got a list", "[]"),
        ("expected a JSON object, got 5", "5"),
        ("expected a JSON object, got text that begins with '<html>'", "<html>"),
        ("expected a JSON object, got text that is not valid JSON: expected the end", '{"id": "a'),
    ],
)
def test_a_reply_that_is_neither_an_object_nor_a_stream_is_a_finding_as_in_check(expected: str, response: str) -> None:
    (row,) = check_table(pa.table({"response": [response]})).to_pylist()
    (outcome,) = [each for each in check(Exchange(response=response)) if each.findings]
    assert ("http/body-is-object-or-stream", None) == (row["rule"], row["error"])
    assert row["message"] == outcome.findings[0].message
    assert row["message"].startswith(expected)


def test_bytes_that_are_not_text_in_a_reply_are_a_finding_as_in_check() -> None:
    data = STREAM.encode().replace(b"content", b"c\xffntent", 1)
    found = check_table(pa.table({"response": [data]})).column("rule").to_pylist()
    assert [outcome.rule for outcome in check(Exchange(response=data)) if outcome.findings] == sorted(set(found))


@pytest.mark.parametrize(
    "headers",
    [
        pa.array([[("Content-Type", "text/event-stream")]], pa.map_(pa.string(), pa.string())),
        pa.array([{"Content-Type": "text/event-stream", "Other": None}]),
        pa.array(['{"content-type": "text/event-stream"}']),
        pa.array(['[{"name": "Content-Type", "value": "text/event-stream"}]']),
        pa.array([[{"key": "Content-Type", "value": "text/event-stream"}]]),
        pa.array([[(b"Content-Type", b"text/event-stream")]], pa.map_(pa.binary(), pa.binary())),
    ],
)
def test_headers_may_be_a_map_a_struct_or_json(headers: Any) -> None:
    text_without_fields = "no event stream"
    found = check_table(pa.table({"response": [text_without_fields], "headers": headers})).to_pylist()
    given_headers = {"content-type": "text/event-stream"}
    expected = check(Exchange(response=text_without_fields, headers=given_headers))
    assert [outcome.rule for outcome in expected if outcome.findings] == [row["rule"] for row in found]


@pytest.mark.parametrize("streamed", [True, False, None])
def test_a_column_may_say_that_a_reply_is_a_stream(streamed: bool | None) -> None:  # noqa: FBT001 — a value
    found = check_table(pa.table({"response": [""], "is_stream": pa.array([streamed], pa.bool_())}))
    expected = check(Exchange(response="", streamed=bool(streamed)))
    assert [outcome.rule for outcome in expected if outcome.findings] == [
        row["rule"] for row in found.to_pylist() if row["error"] is None
    ]


@pytest.mark.parametrize(
    ("expected", "time"),
    [
        (DAY, pa.array([datetime(2026, 11, 1, 23, 30, 0, 1, tzinfo=UTC)], pa.timestamp("ns", "UTC"))),
        (DAY, pa.array([datetime(2026, 11, 1, 23, 30)], pa.timestamp("us"))),  # noqa: DTZ001 — as it may come
        (DAY, pa.array([date(2026, 11, 1)])),
        (DAY, pa.array([f"{DAY}T23:30:00Z"])),
        (DAY, pa.array([1793575800])),
        (DAY, pa.array([1793575800123])),
        (None, pa.array([None], pa.timestamp("s"))),
        (None, pa.array(["yesterday"])),
    ],
)
def test_the_day_of_a_row_is_that_of_its_time(expected: str | None, time: Any) -> None:
    requests = pa.array([json.dumps(FAULTY["request"])])
    (found,) = check_table(pa.table({"request": requests, "time": time}), per="exchange").to_pylist()
    assert expected == found["day"]


def test_without_a_time_the_day_is_that_of_the_reply() -> None:
    reply = {**BASES["plain"][0]["response"], "created": 1793575800}
    (found,) = check_table(pa.table({"response": [json.dumps(reply)]}), per="exchange").to_pylist()
    assert DAY == found["day"]


@pytest.mark.parametrize(
    "status", [pa.array([400.0, None]), pa.array(["400", None]), pa.array([400, None], pa.int16())]
)
def test_a_status_may_be_a_float_beside_nulls_or_text(status: Any) -> None:
    bodies = ["<html>", "<html>"]
    found = check_table(pa.table({"response": bodies, "status": status}))
    expected = [check(Exchange(response="<html>", status=each)) for each in (400, None)]
    # Rows are traffic, in which a failure is a finding of its own.
    failures = [["error/request-accepted"], []]
    assert [
        sorted([*[outcome.rule for outcome in each if outcome.findings], *failure])
        for each, failure in zip(expected, failures, strict=True)
    ] == [[row["rule"] for row in found.to_pylist() if row["row"] == number and row["rule"]] for number in (0, 1)]


def test_dictionaries_packed_bodies_and_ids_of_any_type_are_read() -> None:
    request = json.dumps(FAULTY["request"])
    columns = {
        "Custom_ID": pa.array([7]),
        "request_body": pa.array([request]).dictionary_encode(),
        "response": pa.array([gzip.compress(STREAM.encode())]),
    }
    found = check_table(pa.table(columns)).to_pylist()
    expected = check(Exchange(request, STREAM))
    assert [outcome.rule for outcome in expected if outcome.findings] == sorted({row["rule"] for row in found})
    assert {"7"} == {row["id"] for row in found}


def test_a_column_of_lists_is_no_session_even_if_it_has_its_name() -> None:
    columns = {"request": [json.dumps(FAULTY["request"])], "conversation": [[{"role": "user"}]]}
    (row,) = check_table(pa.table(columns), per="exchange").to_pylist()
    assert (None, None) == (row["session"], row["error"])


def test_columns_are_named_or_left_out() -> None:
    rows = table([FAULTY, FAULTY]).rename_columns(["id", "body", "response", "status", "headers"])
    named = check_table(rows, columns={"request": "body", "response": None})
    assert check_table(table([{"request": FAULTY["request"]}] * 2)).equals(named)


@pytest.mark.parametrize(
    ("error", "message", "columns", "options"),
    [
        (Unusable, "expected a column `request` or `response`, got: body", {"body": ["{}"]}, {}),
        (Unusable, "expected text or bytes in the column 'request', got struct", {"request": [{"model": "m"}]}, {}),
        (
            Unusable,
            "expected single values in the column 'thread', got list",
            {"request": ["{}"], "thread": [[1]]},
            {"columns": {"session": "thread"}},
        ),
        (UnknownName, "unknown column 'bdy'; did you mean body?", {"body": ["{}"]}, {"columns": {"request": "bdy"}}),
        (UnknownName, "unknown part of an exchange 'answer'", {"a": ["{}"]}, {"columns": {"answer": "a"}}),
        (UnknownName, "unknown kind of results 'row'", {"request": ["{}"]}, {"per": "row"}),
        (UnknownName, "unknown provider 'deepsek'", {"request": ["{}"]}, {"profile": "deepsek"}),
        (UnknownName, "unknown rule 'shap/x'", {"request": ["{}"]}, {"rules": "shap/x"}),
    ],
)
def test_what_the_call_has_wrong_is_raised(
    error: type[Exception], message: str, columns: dict[str, list[Any]], options: dict[str, Any]
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        check_table(pa.table(columns), **options)


def test_a_table_in_place_of_batches_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=re.escape("expected batches of type pyarrow.RecordBatch, got dict")):
        list(check_batches([{"request": "{}"}]))


def test_auto_takes_the_provider_of_the_host() -> None:
    urls = ["https://api.deepseek.com/chat/completions", "https://api.mistral.ai/v1", "http://localhost", None]
    requests = [json.dumps(FAULTY["request"])] * len(urls)
    found = check_table(pa.table({"request": requests, "url": urls}), "auto", per="exchange").to_pylist()
    assert ["deepseek", "mistral", None, None] == [row["provider"] for row in found]


def test_a_call_with_a_loaded_profile_can_be_sent_to_workers() -> None:
    here = partial(check_batches, profile=load_profile("deepseek"), columns={"session": None})
    there = pickle.loads(pickle.dumps(here))  # noqa: S301 — from the line itself
    batches = table([FAULTY]).to_batches()
    assert list(check_batches(batches, "deepseek")) == list(there(batches))
