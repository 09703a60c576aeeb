"""Parquet files: columns are recognized by content, every row is an input, and memory does not depend on the rows."""

import gzip
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.errors import InvalidDocument, Unrecognized
from conformance.formats import KINDS, Input, read, read_path
from tests.checking import BASES, ENVIRONMENT, FAULTY, STREAM, check
from tests.wires import CHUNK, REPLY, REPLY_TEXT, REQUEST, REQUEST_TEXT

pa = pytest.importorskip("pyarrow", reason="NOT RUN: pyarrow is not installed, so nothing here was tested")
parquet = pytest.importorskip("pyarrow.parquet")

MESSAGES = REQUEST["messages"]


def saved(folder: Path, columns: dict[str, Any], **options: Any) -> Path:
    path = folder / "traffic.parquet"
    parquet.write_table(pa.table(columns), path, **options)
    return path


def inputs(folder: Path, columns: dict[str, Any]) -> list[Input]:
    return list(read_path(saved(folder, columns)))


@pytest.mark.parametrize(
    ("kind", "request_body", "response", "columns"),
    [
        ("exchange", REQUEST, REPLY, {"request": [REQUEST_TEXT], "response": [REPLY_TEXT]}),
        ("exchange", REQUEST, None, {"a": ["a"], "b": [REQUEST_TEXT]}),
        ("exchange", REQUEST, STREAM, {"sent": [REQUEST_TEXT.encode()], "got": [gzip.compress(STREAM.encode())]}),
        ("exchange", REQUEST, None, {"a.b": [REQUEST_TEXT], "conversation": [MESSAGES], "a": ["text"]}),
        ("exchange", REQUEST, None, {"request": ["POST /v1"], "body": [REQUEST_TEXT]}),
        ("exchange", REQUEST, REPLY, {"x": [REQUEST_TEXT], "request": [REQUEST_TEXT], "y": [REPLY_TEXT]}),
        ("exchange", REQUEST, "no JSON", {"sent": [REQUEST_TEXT], "response": ["no JSON"], "status": [502]}),
        ("request", REQUEST, None, {"log": [json.dumps({"messages": MESSAGES, "model": "m-asked"})]}),
        ("exchange", REQUEST, REPLY, {"id": [1], "log": [json.dumps({"request": REQUEST, "response": REPLY})]}),
        ("messages", {"messages": MESSAGES}, None, {"prompt": [json.dumps(MESSAGES)]}),
        ("exchanges", REQUEST, None, {"log": [json.dumps([{"request": REQUEST}, {"request": REQUEST}])]}),
    ],
)
def test_columns_are_recognized_by_their_content(
    kind: str, request_body: Any, response: Any, columns: dict[str, Any], tmp_path: Path
) -> None:
    if kind == "request":
        kind = "exchange"  # A column of bodies is a column of exchanges without replies.
    (found,) = inputs(tmp_path, columns)
    assert (kind, 1, None) == (found.kind, found.line, found.problem)
    assert (request_body, response) == (found.conversation[0].request, found.conversation[0].response)


def test_bodies_of_other_wires_are_recognized(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "get_time", "input": {}}
    messages = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": [call]}]
    sent = {"model": "claude", "max_tokens": 9, "system": "Be brief.", "messages": messages}
    got = {"type": "message", "role": "assistant", "model": "claude", "content": [call], "stop_reason": "tool_use"}
    path = saved(tmp_path, {"a": [json.dumps(got)], "b": [json.dumps(sent)]})
    assert [(sent, got)] == [(each.conversation[0].request, each.conversation[0].response) for each in read_path(path)]
    assert "transcript/calls-answered MUST (client) at /0/request/messages/1/content/0" in check(path)[1]


def test_chunks_in_consecutive_rows_are_one_stream(tmp_path: Path) -> None:
    (found,) = inputs(tmp_path, {"chunk": [json.dumps(CHUNK)] * 3})
    assert ("chunks", (1, 2, 3)) == (found.kind, found.lines)


def test_rows_of_a_session_are_one_conversation(tmp_path: Path) -> None:
    session = BASES["plain-session"]
    requests = [json.dumps(each["request"]) for each in session]
    replies = [json.dumps(each["response"]) for each in session]
    columns = {"session_id": ["a", "b"] * len(requests), "request": [each for each in requests for _ in "ab"]}
    found = inputs(tmp_path, columns | {"response": [each for each in replies for _ in "ab"]})
    assert [("exchanges", "a", (1, 3, 5)), ("exchanges", "b", (2, 4, 6))] == [
        (each.kind, each.session, each.lines) for each in found
    ]


def test_a_row_that_cannot_be_read_does_not_affect_the_others(tmp_path: Path) -> None:
    path = saved(tmp_path, {"request": [REQUEST_TEXT, "{", None, REQUEST_TEXT]})
    ended = check("--format", "jsonl", path)
    errors = [each.get("error", "") for each in ended.inputs]
    assert (2, ["", ""]) == (ended[0], errors[:2])
    assert errors[2].startswith(f"{path}:2: request: expected")
    assert errors[2].endswith(
        "1 more line cannot be read, either: 3; line 3: row: expected a request or a response, got null"
    )
    assert 3 == len(errors)


def test_findings_name_the_row(tmp_path: Path) -> None:
    path = saved(tmp_path, {"request": [json.dumps(each["request"]) for each in (BASES["plain"][0], FAULTY)]})
    code, output, _ = check(path)
    assert 1 == code
    assert f"{path}:2: transcript/calls-answered MUST (client) at /0/request/messages/1" in output


@pytest.mark.parametrize("jobs", [1, 2])
def test_jobs_and_folders_find_parquet_files(jobs: int, tmp_path: Path) -> None:
    saved(tmp_path, {"request": [json.dumps(FAULTY["request"])] * 40}, row_group_size=10)
    ended = check("--format", "jsonl", "--jobs", jobs, tmp_path)
    assert (1, list(range(1, 41))) == (ended[0], [each["line"] for each in ended.inputs if "line" in each])


@pytest.mark.slow
def test_a_packed_file_and_standard_input_are_read_too(tmp_path: Path) -> None:
    path = saved(tmp_path, {"request": [REQUEST_TEXT]})
    packed = tmp_path / "a.parquet.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert ["exchange"] == [each.kind for each in read_path(packed)]
    command = [sys.executable, "-m", "conformance", "check", "-"]
    run = subprocess.run(command, input=path.read_bytes(), env=ENVIRONMENT, capture_output=True, check=True)
    assert b":1: an exchange" in run.stdout


def test_what_is_not_checked_is_noted(tmp_path: Path) -> None:
    columns = {"messages": [json.dumps(MESSAGES)], "request": [{"model": "m"}], "response": [REPLY_TEXT]}
    (found,) = inputs(tmp_path, columns)
    assert (
        "the column 'messages' is not checked: it holds JSON, but no bodies",
        "the column 'request' is not checked: it holds nested values instead of JSON",
    ) == found.notes


@pytest.mark.parametrize(
    ("expected", "columns"),
    [
        ("""SELECT to_json(messages) AS messages) TO 'bodies.parquet'", and""", {"messages": [MESSAGES]}),
        ("got the columns a (int64), b (string)", {"a": [1], "b": ["text"]}),
        ("got the columns a (string)", {"a": pa.array([], pa.string())}),
        ("got the columns none", {}),
    ],
)
def test_an_unrecognized_file_says_what_is_nearest(expected: str, columns: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(Unrecognized) as caught:
        inputs(tmp_path, columns)
    assert expected in caught.value.message


def test_the_way_out_leads_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb", reason="NOT RUN: duckdb is not installed")
    monkeypatch.chdir(tmp_path)
    nested = [{"role": "user", "content": "Hello"}]
    with pytest.raises(Unrecognized) as caught:
        inputs(Path(), {"messages": [nested]})
    query = caught.value.message.partition("duckdb -c ")[2].partition(", and expect")[0]
    duckdb.sql(*shlex.split(query))
    assert ["messages"] == [each.kind for each in read_path(Path("bodies.parquet"))]


@pytest.mark.parametrize("cut", [4, 8, 100, 300])
def test_a_damaged_file_is_an_invalid_document(cut: int, tmp_path: Path) -> None:
    path = saved(tmp_path, {"request": [REQUEST_TEXT]})
    with pytest.raises(InvalidDocument, match="cannot be read as a Parquet file"):
        list(read(path.read_bytes()[:-cut], "a.parquet"))


def test_damaged_bytes_never_raise_anything_else(tmp_path: Path) -> None:
    data = saved(tmp_path, {"request": [REQUEST_TEXT] * 9, "response": [REPLY_TEXT] * 9}).read_bytes()
    for position in range(4, len(data), 17):
        try:
            found = list(read(data[:position] + bytes([data[position] ^ 0x55]) + data[position + 1 :], "a.parquet"))
        except InvalidDocument:
            continue
        assert all(each.problem or each.kind in KINDS for each in found)


def test_without_pyarrow_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path, {"request": [REQUEST_TEXT]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, error = check(path)
    assert 2 == code
    assert "is a Parquet file, and pyarrow is not installed: pip install 'wire-conformance[arrow]'" in error


@pytest.mark.slow
def test_memory_does_not_depend_on_the_number_of_rows(tmp_path: Path) -> None:
    def peak(rows: int) -> int:
        """Return the most bytes that Arrow holds between the inputs of a file with one row group."""
        # Each row is different, so that no dictionary holds them all.
        bodies = [json.dumps(REQUEST | {"user": f"{number:06}" * 1000}) for number in range(rows)]
        path = saved(tmp_path, {"request": bodies}, row_group_size=rows, compression="none")
        before = int(pa.total_allocated_bytes())
        return max(int(pa.total_allocated_bytes()) - before for _ in read_path(path))

    assert peak(4000) < 1.2 * peak(2000)
