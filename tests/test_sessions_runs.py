"""What real runs of agents leave that their documentation does not say; the samples are written for these tests."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from conformance.errors import Unrecognized
from conformance.files.recognition import recognise
from conformance.formats import Input, read_path
from conformance.formats.sessions.failing import failure
from tests import planted
from tests.checking import check
from tests.loops import every

TEXT = "The reasoning_content in the thinking mode must be passed back to the API."
CALL = {"id": "call_1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
TURN = [
    {"role": "user", "content": "Hi."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "1"},
]


def outcomes(path: Path) -> list[tuple[int | None, Any]]:
    """Return the status and the body of each failure in a file."""
    replies = [exchange for given in read_path(path) for exchange in given.conversation]
    return [(each.status, each.response) for each in replies if "error" in (each.response or {})]


def left_open(path: Path, home: Path) -> Path:
    """Return a copy of a database as an agent leaves it that ends without closing: all of it is in the log."""
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(home / "open.db")) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.executescript("\n".join(source.iterdump()))
        shutil.copy(home / "open.db-wal", home / "left.db-wal")
        shutil.copy(home / "open.db", home / "left.db")
    return home / "left.db"


def test_a_database_is_read_with_its_write_ahead_log(tmp_path: Path) -> None:
    for write in (planted.opencode, planted.goose):
        home = tmp_path / write.__name__
        whole = write(home, planted.WRONG)
        left = left_open(whole, home)
        before = [file.read_bytes() for file in sorted(home.glob("left.db*"))]
        assert [each.conversation for each in read_path(whole)] == [each.conversation for each in read_path(left)]
        assert before == [file.read_bytes() for file in sorted(home.glob("left.db*"))]


def test_a_write_ahead_log_counts_up_to_its_last_whole_transaction(tmp_path: Path) -> None:
    left = left_open(planted.goose(tmp_path, planted.WRONG), tmp_path)
    log = left.with_name("left.db-wal")
    data = log.read_bytes()
    (whole,) = read_path(left)
    log.write_bytes(data + b"\x01" * 5000)
    assert [whole.conversation] == [each.conversation for each in read_path(left)]
    # Without a log that can be read, nothing is in the database yet.
    for damaged in (data[:20], data[:100], b"\xff" * 32 + data[32:], data[:8] + b"\0\0\0\1" + data[12:]):
        log.write_bytes(damaged)
        with pytest.raises(Unrecognized):
            list(read_path(left))


def test_an_index_that_calls_a_function_leaves_a_database_readable(tmp_path: Path) -> None:
    path = planted.opencode(tmp_path, "call_3")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE INDEX roles ON message (id) WHERE json_extract(data, '$.role') = 'user'")
    assert 4 == len(next(iter(read_path(path))).conversation)


def test_calls_of_gemini_cli_may_stand_in_the_content_too(tmp_path: Path) -> None:
    path = planted.gemini_cli(tmp_path, "call_3")
    expected = [each.conversation for each in read_path(path)]
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for record in records:
        if calls := record.get("toolCalls"):
            record["content"] = [{"functionCall": {key: each[key] for key in ("id", "name", "args")}} for each in calls]
    assert expected == [each.conversation for each in read_path(planted.lines(path, records))]


def test_the_report_of_gemini_cli_holds_the_request_that_failed(tmp_path: Path) -> None:
    user = {"role": "user", "parts": [{"text": "Read a file."}]}
    call = {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "read_file", "args": {}}}]}
    result = {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "read_file", "response": {}}}]}
    body = {"error": {"code": 400, "message": TEXT, "status": "INVALID_ARGUMENT"}}
    report = {"error": {"message": json.dumps(body)}, "context": [user, call, result, result]}
    path = planted.value(tmp_path / "gemini-client-error-x.json", report)
    (given,) = read_path(path)
    (failed,) = given.conversation
    assert ("gemini_cli", 400, body) == (given.kind, failed.status, failed.response)
    assert [user, call, result] == failed.request["contents"]


def test_a_session_whose_agent_stores_no_failures_says_where_they_are(tmp_path: Path) -> None:
    question = {"id": "last", "timestamp": planted.DAY, "type": "user", "content": [{"text": "Go on."}]}
    path = planted.gemini_cli(tmp_path, "call_3")
    assert not [note for given in read_path(path) for note in given.notes if "no reply" in note]
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    planted.lines(path, [*records, question])
    (note,) = [note for given in read_path(path) for note in given.notes if "no reply" in note]
    assert "gemini-client-error-" in note


def test_a_log_of_a_call_by_goose_holds_the_request_and_the_failure(tmp_path: Path) -> None:
    request = {"model": "deepseek-v4-flash", "messages": [{"role": "user", "content": "Read a file."}]}
    first = {"model_config": {"model_name": "deepseek-v4-flash"}, "input": request}
    path = planted.lines(
        tmp_path / "llm_request.0.jsonl", [first, {"error": f"Request failed: Bad request (400): {TEXT}"}]
    )
    (given,) = read_path(path)
    (failed,) = given.conversation
    assert ("goose_calls", request, 400) == (given.kind, failed.request, failed.status)
    said = [
        {"type": "text", "text": "Reading."},
        {"type": "toolRequest", "id": "c1", "toolCall": {"value": {"name": "read"}}},
    ]
    parts = [{"data": {"role": "assistant", "content": [each]}, "usage": None} for each in said]
    ((read,),) = [each.conversation for each in read_path(planted.lines(path, [first, *parts, {"data": None}]))]
    message = read.response["choices"][0]["message"]
    assert ("Reading.", ["c1"]) == (message["content"], [call["id"] for call in message["tool_calls"]])


def test_failures_without_a_status_are_found_and_those_of_the_agent_itself_are_not(tmp_path: Path) -> None:
    shown = {"metadata": {"displayOnly": True, "displayRole": "error"}, "role": "assistant"}
    failed = {**shown, "content": [{"type": "text", "text": TEXT}]}
    session = {"agent": "lead", "sessionId": "1", "updated_at": planted.DAY, "messages": [failed]}
    assert [(None, {"error": {"message": TEXT}})] == outcomes(planted.value(tmp_path / "1.messages.json", session))
    task = planted.cline(tmp_path, "call_3")
    say = {"type": "say", "say": "api_req_retry_delayed", "text": f"400\n{TEXT}\n"}
    planted.value(task.with_name("ui_messages.json"), [{"ts": planted.MILLISECONDS + each, **say} for each in (25, 26)])
    assert [400] == [status for status, _ in outcomes(task)]
    for text in ("tool_call_id not found", "Provider returned error", "Invalid 'tools[0].function.name'"):
        assert (None, {"error": {"message": text}}) == failure(text, is_call=True)
    for text in ("Request was aborted.", "fetch failed", "connect ECONNREFUSED 127.0.0.1:1", "Request timed out.", ""):
        assert failure(text, is_call=True) is None


def test_a_provider_that_is_any_compatible_host_is_not_recognized(tmp_path: Path) -> None:
    (given,) = read_path(planted.pi(tmp_path, "call_3"))
    for name in ("openai-compatible", "openai-compat", "openai-chat"):
        named: Input = given._replace(provider=name)
        assert () == recognise(named).providers
    assert ("deepseek",) == recognise(given).providers


def test_messages_of_logfire_may_stand_in_the_attributes_of_opentelemetry(tmp_path: Path) -> None:
    known = {
        "request_data": json.dumps({"model": "deepseek-v4-flash"}),
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "deepseek-v4-flash",
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Hi."}]}]),
    }
    error = {"name": "exception", "attributes": {"exception.message": f"Error code: 400 - {TEXT}"}}
    span = {"context": {"span_id": "0x1"}, "attributes": known, "events": [error]}
    assert [400] == [status for status, _ in outcomes(planted.lines(tmp_path / "spans.jsonl", [span]))]


@every(
    ("data", "is_named"),
    [({"model": "deepseek-v4-flash"}, False), ({"model": "deepseek-v4-flash", "messages": TURN}, True)],
)
def test_a_place_is_named_only_in_a_request_that_the_log_holds_as_it_was_sent(
    data: dict[str, Any], tmp_path: Path, *, is_named: bool
) -> None:
    # The attributes of OpenTelemetry hold no reasoning, which the client may well have sent.
    call = {"type": "tool_call", "id": "call_1", "name": "now", "arguments": {}}
    messages = [
        {"role": "user", "parts": [{"type": "text", "content": "Hi."}]},
        {"role": "assistant", "parts": [call]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "response": "1"}]},
    ]
    known = {
        "request_data": json.dumps(data),
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "deepseek-v4-flash",
        "gen_ai.provider.name": "deepseek",
        "gen_ai.input.messages": json.dumps(messages),
    }
    said = "The `reasoning_content` in the thinking mode must be passed back to the API."
    error = {"name": "exception", "attributes": {"exception.message": f"Error code: 400 - {said}"}}
    span = {"context": {"span_id": "0x1"}, "attributes": known, "events": [error]}
    code, out, _ = check(planted.lines(tmp_path / "spans.jsonl", [span]), "--provider", "deepseek")
    assert (1, True, is_named) == (code, "reasoning.omitted" in out, "finds it here" in out)
