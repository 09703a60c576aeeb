"""Lines of any form, read by a map; and what is said of lines that no format fits."""

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.errors import InvalidDocument, Unusable
from conformance.files import Task, check_paths
from conformance.formats import Input, mapped, read_path
from tests.checking import check
from tests.loops import every
from tests.wires import ERROR, REBUILT, REPLY, REQUEST, lines

RAISED = f"openai.BadRequestError: Error code: 400 - {ERROR}"


def read(folder: Path, fields: str, *values: Any) -> list[Input]:
    path = folder / "calls.jsonl"
    path.write_bytes(lines(*values))
    return list(read_path(path, fields))


@every(
    ("fields", "value"),
    [
        ("request=payload,response=result,status=code", {"payload": REQUEST, "result": REPLY, "code": 200}),
        ("request=payload,response=result", {"payload": json.dumps(REQUEST), "result": json.dumps(REPLY)}),
        ("request=call.in,response=/call/out/0", {"call": {"in": REQUEST, "out": [REPLY]}}),
        ("request=a.b,response=c.d.e", {"a.b": REQUEST, "c": {"d.e": REPLY}}),
        ("request=data.in,response=data.out", {"data": json.dumps({"in": REQUEST, "out": REPLY})}),
        ("messages=chat,model=llm,response=out", {"chat": REQUEST["messages"], "llm": "m-asked", "out": REPLY}),
    ],
)
def test_an_exchange_is_read_from_the_places_that_a_map_gives(tmp_path: Path, fields: str, value: Any) -> None:
    (found,) = read(tmp_path, fields, value)
    assert (REQUEST, REPLY) == (found.conversation[0].request, found.conversation[0].response)


def test_a_reply_that_is_a_text_or_a_message_is_one_choice(tmp_path: Path) -> None:
    for out in ("Hi", {"role": "assistant", "content": "Hi"}):
        (found,) = read(tmp_path, "messages=in,response=out", {"in": REBUILT, "out": out})
        assert "Hi" == found.conversation[0].response["choices"][0]["message"]["content"]


def test_the_other_parts_are_read_too(tmp_path: Path) -> None:
    value = {"in": REQUEST, "err": RAISED, "to": "https://x.test/v1", "who": "deepseek", "trace": 7, "at": "2026-01-02"}
    fields = "request=in,error=err,url=to,provider=who,session=trace,date=at"
    (found,) = read(tmp_path, fields, value, {**value, "err": None}, {"other": 1})
    first, second = found.conversation
    assert ("deepseek", "7", (1, 2)) == (found.provider, found.session, found.lines)
    assert (400, ERROR, "https://x.test/v1", "2026-01-02") == (first.status, first.response, first.url, first.date)
    assert (None, None) == (second.status, second.response)


def test_one_json_value_is_read_as_its_items(tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    path.write_text(json.dumps([{"in": REQUEST}, {"in": REQUEST}], indent=1))
    assert [1, 2] == [each.line for each in read_path(path, "request=in")]
    path.write_text(json.dumps({"in": REQUEST}, indent=1))
    assert [REQUEST] == [each.conversation[0].request for each in read_path(path, "request=in")]


def test_a_part_that_is_in_no_line_is_an_error_with_the_keys_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match=r"'payloadd' [(]request[)]; the keys of its lines: payload, id$"):
        read(tmp_path, "request=payloadd,session=id", {"payload": 1, "id": "a"})


@every(
    ("fields", "expected"),
    [
        ("body=x", "expected PART=PLACE once for each part, got 'body=x'; parts: request, response"),
        ("request=", "expected PART=PLACE once for each part, got 'request='"),
        ("request=a,request=b", "got 'request=b'"),
        ("session=a", "expected the place of one of request, response, messages, error, status, got 'session=a'"),
        ("request=a,messages=b", "expected the place of request or of messages, got both"),
    ],
)
def test_a_map_that_is_wrong_is_an_error(fields: str, expected: str) -> None:
    with pytest.raises(Unusable) as caught:
        mapped.parse(fields)
    assert expected in str(caught.value)


def test_check_reads_by_a_map_and_exits_with_2_for_a_wrong_one(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_bytes(lines({"in": REQUEST, "t": "a"}, {"in": REQUEST, "t": "a"}))
    for jobs in ("1", "2"):
        ended = check(path, "--map", "request=in,session=t", "--jobs", jobs, "--format", "jsonl")
        assert (0, [[1, 2]]) == (ended[0], [each["lines"] for each in ended.inputs])
    assert 2 == check(path, "--map", "request=out")[0]
    assert 2 == check(path, "--map", "out")[0]


@every(
    ("value", "expected"),
    [
        (
            {"payload": json.dumps(REQUEST), "result": REPLY, "trace_id": "t"},
            "request=payload,response=result,session=trace_id",
        ),
        (
            {"call": {"in": REQUEST, "out": REPLY}, "http_status": 200},
            "request=call.in,response=call.out,status=http_status",
        ),
        ({"chat": REBUILT, "completion": "Hi", "llm": "m"}, "response=completion,messages=chat,model=llm"),
        ({"chat": REBUILT, "err": "no"}, "messages=chat,error=err"),
        ({"trace_id": "t", "n": 1}, ""),
    ],
)
def test_the_map_is_guessed_from_keys_and_values(tmp_path: Path, value: Any, expected: str) -> None:
    assert expected == mapped.guess(value)
    assert not expected or 1 == len(read(tmp_path, expected, value)[0].conversation)


def test_records_of_any_form_are_read_with_the_session_that_they_name(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_bytes(lines(*[{"payload": REQUEST, "result": REPLY, "trace_id": each} for each in "aab"]))
    assert [("inside", "a", 2), ("inside", "b", 1)] == [
        (each.kind, each.session, len(each.conversation)) for each in read_path(path)
    ]


def test_a_file_has_one_error_that_names_its_form_and_the_map(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_bytes(lines(*[{"answer": "Hi.", "trace_id": "t", "prompt": "Hello"}] * 100))
    fields = "response=answer,session=trace_id"
    for jobs in (1, 2):
        (report,) = [each.report for some in check_paths([str(path)], Task(), list, jobs) for each in some]
        assert f"to read it: conformance check --map {fields} {path}; 99 more lines" in report["error"]
        assert report["error"].endswith("either: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …")
    assert 1 == check(path)[2].count("conformance: ")


def test_a_record_that_lacks_a_key_of_a_format_says_what_it_is_nearest_to(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_bytes(lines({"traceId": "t", "input": "x", "output": "y", "startTime": "2026-01-01"}, {}))
    (report,) = [each.report for some in check_paths([str(path)], Task(), list) for each in some]
    assert "nearest to an observation of Langfuse, which also has type" in report["error"]
