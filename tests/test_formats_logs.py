import base64
import json
from fnmatch import fnmatchcase
from typing import Any

import pytest

from conformance import rules
from conformance.files import Checker, Task
from conformance.formats import KINDS, Input, read, read_path
from conformance.resources import folder
from conformance.results import Level
from conformance.wire.exchange import Exchange
from tests.loops import every
from tests.wires import ERROR, REBUILT, REPLY, REQUEST, lines, one

FIXTURES = folder("fixtures") / "formats"
EXPLAINED = "error/request-accepted"
NOT_LOGS = (".md", ".flow")
"""The flows have tests of their own, since their reader is another tool."""
LITELLM = {"call_type": "acompletion", "model": "m", "messages": REQUEST["messages"], "response": REPLY}

BATCH = {"custom_id": "a", "method": "POST"}


def inputs(name: str) -> list[Input]:
    return list(read_path(FIXTURES / name))


def musts(name: str) -> list[str]:
    reports = [Checker(Task(level=Level.MUST)).input(each).report for each in inputs(name)]
    found = [outcome["rule"] for report in reports for outcome in report["outcomes"]]
    # What a failure means depends on its text, not on the tool that logged it.
    return sorted([rule for rule in found if rule != EXPLAINED])


@every(
    ("name", "kind", "requests", "replies", "expected"),
    [
        ("nock.json", "nock", 3, 3, []),
        ("polly.har", "har", 2, 2, []),
        ("mitmproxy.har", "har", 1, 1, []),
        (
            "litellm.jsonl",
            "litellm",
            4,
            4,
            ["request/no-local-only-fields", "transcript/result-answers-call"],
        ),
        ("batch-input.jsonl", "batch", 1, 0, []),
        ("batch-output.jsonl", "batch", 0, 2, []),
        ("otlp.jsonl", "spans", 3, 3, []),
        ("spans-openllmetry.jsonl", "spans", 3, 3, []),
        ("spans-without-messages.jsonl", "spans", 0, 0, []),
        ("log-records-otlp.jsonl", "events", 4, 3, ["transcript/result-answers-call"]),
        ("log-records.jsonl", "events", 4, 3, ["transcript/result-answers-call"]),
        ("betamax.json", "cassette", 2, 2, []),
        ("wiremock.json", "wiremock", 2, 2, []),
        ("wiremock-journal.json", "wiremock", 2, 2, []),
        ("langsmith.jsonl", "langsmith", 3, 3, []),
        ("langfuse.json", "langfuse", 1, 1, []),
        ("helicone.jsonl", "helicone", 1, 1, []),
        ("litellm-wires.jsonl", "litellm", 5, 3, ["transcript/calls-answered"]),
        ("helicone-wires.jsonl", "helicone", 6, 6, []),
        ("langfuse-wires.json", "langfuse", 6, 6, []),
        ("wiremock-wires.json", "wiremock", 6, 6, []),
        ("printed-openai-2.log", "printed", 3, 1, []),
        ("printed-openai-3.log", "printed", 0, 1, []),
        ("printed-anthropic.log", "printed", 2, 1, ["transcript/calls-answered"]),
        ("printed-httpx.log", "printed", 0, 2, []),
        ("printed-openai-node.log", "printed", 0, 1, []),
        ("printed-anthropic-node.log", "printed", 0, 1, []),
        ("printed-litellm.log", "printed", 2, 1, []),
        ("spans-openinference.jsonl", "spans", 3, 3, []),
        ("spans-openinference-anthropic.jsonl", "spans", 2, 2, ["transcript/calls-answered"]),
        ("spans-langfuse.jsonl", "spans", 2, 2, []),
        ("spans-vercel.jsonl", "spans", 2, 2, []),
        ("spans-mlflow.jsonl", "spans", 2, 2, []),
        ("spans-openllmetry-failed.jsonl", "spans", 1, 1, []),
        ("curl-i.txt", "curl", 0, 1, []),
        ("curl-i-two.txt", "curl", 0, 2, []),
        ("curl-v-stream.txt", "curl", 0, 1, []),
        ("curl-v-meter.txt", "curl", 0, 1, []),
        ("curl-vi.txt", "curl", 0, 1, []),
    ],
)
def test_a_file_of_a_tool_is_read_whole_and_without_false_findings(
    name: str, kind: str, requests: int, replies: int, expected: list[str]
) -> None:
    found = inputs(name)
    assert {kind} == {each.kind for each in found} <= KINDS.keys()
    exchanges = [exchange for each in found for exchange in each.conversation]
    assert requests == sum(exchange.request is not None for exchange in exchanges)
    assert replies == sum(exchange.response is not None for exchange in exchanges)
    refused = any((exchange.status or 0) >= 400 for exchange in exchanges)
    assert sorted([*expected, *(["error/request-accepted"] if refused else [])]) == musts(name)


def is_failed(exchange: Exchange) -> bool:
    has_error = isinstance(exchange.response, dict) and bool(exchange.response.get("error"))
    return has_error or (exchange.status or 0) >= 400


def test_no_failure_in_a_log_is_without_a_finding() -> None:
    for path in sorted(FIXTURES.iterdir()):
        for given in inputs(path.name) if path.suffix not in NOT_LOGS else ():
            failed = [number for number, each in enumerate(given.conversation) if is_failed(each)]
            report = Checker(Task(rules=(EXPLAINED,))).input(given).report
            findings = [finding for outcome in report["outcomes"] for finding in outcome["findings"]]
            assert failed == sorted({int(finding["at"].split("/")[1]) for finding in findings}), path.name


def test_a_file_of_a_tool_is_recognized_whatever_its_name_is() -> None:
    for path in sorted(FIXTURES.iterdir()):
        if path.suffix not in NOT_LOGS:
            (first, *_) = inputs(path.name)
            renamed = one(path.read_bytes().partition(b"\n")[0], "x") if path.suffix == ".jsonl" else first
            assert first.kind == renamed.kind


def test_a_call_of_litellm_has_the_request_with_its_parameters() -> None:
    parameters = {"temperature": 0.5, "stream": True, "max_retries": 2, "extra_body": {"top_k": 1}, "stop": None}
    found = one({**LITELLM, "model_parameters": parameters, "api_base": "https://api.example.test", "startTime": 1.8e9})
    (exchange,) = found.conversation
    assert {"model": "m", "messages": REQUEST["messages"], "temperature": 0.5, "top_k": 1} == exchange.request
    assert (REPLY, "https://api.example.test", "2027-01-15") == (exchange.response, exchange.url, exchange.date)
    assert found.conversation == one({"kwargs": 1, "standard_logging_object": LITELLM | found_log(found)}).conversation


def found_log(found: Input) -> dict[str, Any]:
    (exchange,) = found.conversation
    parameters = {name: exchange.request[name] for name in ("temperature", "top_k")}
    return {"model_parameters": parameters, "api_base": exchange.url, "startTime": 1.8e9}


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        (
            "skipped, neither chat completions, Messages nor Responses: call_type 'aembedding'",
            {**LITELLM, "call_type": "aembedding"},
        ),
        ("skipped, a call whose messages were not logged", {**LITELLM, "messages": "redacted-by-litellm"}),
        ("a call without a reply: only its request is checked", {**LITELLM, "response": {}}),
        ("skipped, not chat completions: POST /v1/moderations", {**BATCH, "url": "/v1/moderations", "body": {}}),
        ("skipped, not a chat completion: a reply with the", {**BATCH, "response": {"body": {"object": "list"}}}),
        (
            "the batch reports the error 'batch_expired'",
            {**BATCH, "response": None, "error": {"code": "batch_expired"}},
        ),
    ],
)
def test_what_a_log_lacks_is_said(expected: str, value: dict[str, Any]) -> None:
    found = one(value)
    assert any(expected in note for note in found.notes)
    assert not any(exchange.response for exchange in found.conversation)


def test_a_batch_is_checked_line_by_line() -> None:
    sent = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": REQUEST}
    got = {"custom_id": "a", "response": {"status_code": 400, "request_id": "r", "body": ERROR}, "error": None}
    assert REQUEST == one(sent).conversation[0].request
    assert (400, ERROR) == (one(got).conversation[0].status, one(got).conversation[0].response)
    assert "batch" == one(lines(sent).strip()).kind


def test_a_list_of_logs_is_one_input_and_its_broken_entries_have_problems() -> None:
    broken = {**LITELLM, "messages": "[{"}
    found = list(read_path_of([LITELLM, broken, LITELLM]))
    assert [2, 0] == [len(each.conversation) for each in found]
    assert (0, 2) == found[0].numbers
    assert found[1].problem is not None
    assert "/1" == found[1].problem.pointer


def read_path_of(value: Any) -> list[Input]:
    return list(read(json.dumps(value).encode(), "file"))


def test_every_glob_of_a_log_matches_a_rule() -> None:
    ids = [rule.id for rule in rules.load()]
    globs = {
        glob
        for path in FIXTURES.iterdir()
        if path.suffix not in NOT_LOGS
        for each in inputs(path.name)
        for glob in each.rules
    }
    assert [] == [glob for glob in globs if not any(fnmatchcase(rule, glob) for rule in ids)]


def test_headers_of_nock_are_read_in_each_form() -> None:
    call = {
        "scope": "https://x.test",
        "path": "/v1/chat/completions",
        "method": "POST",
        "body": REQUEST,
        "response": REPLY,
    }
    for headers in (["Content-Type", "text/plain"], {"Content-Type": "text/plain"}):
        for value in ([{**call, "rawHeaders": headers}], {**call, "rawHeaders": headers}):
            found = one(value)
            assert ("nock", {"content-type": "text/plain"}) == (found.kind, found.conversation[0].headers)


def test_text_that_betamax_read_with_the_wrong_charset_is_repaired() -> None:
    reply = json.dumps({**REPLY, "model": "\u00e9\u4e2d"}, ensure_ascii=False)
    for text in (reply, reply.encode().decode("latin-1")):
        body = {"encoding": "ISO-8859-1", "string": text}
        item = {"request": {"method": "POST", "uri": "https://x.test/chat/completions"}, "response": {"body": body}}
        found = one({"http_interactions": [item], "recorded_with": "betamax/0.9.0"})
        assert json.loads(reply) == found.conversation[0].response


@pytest.mark.parametrize(
    ("url", "sent", "got"),
    [
        ({"urlPath": "/v1/chat/completions"}, {"bodyPatterns": [{"equalToJson": REQUEST}]}, {"jsonBody": REPLY}),
        (
            {"urlPathPattern": "/.*/chat/completions$"},
            {"bodyPatterns": [{"equalToJson": json.dumps(REQUEST)}]},
            {"body": json.dumps(REPLY)},
        ),
        (
            {"url": "/v1/chat/completions"},
            {"body": REQUEST},
            {"base64Body": base64.b64encode(json.dumps(REPLY).encode()).decode()},
        ),
    ],
)
def test_a_mapping_of_wiremock_is_read_in_each_form(url: Any, sent: Any, got: Any) -> None:
    mapping = {"request": {"method": "POST", **url, **sent}, "response": {"status": 200, **got}}
    for value in (mapping, {"mappings": [mapping]}, {"requests": [mapping]}):
        (exchange,) = one(value).conversation
        assert (REQUEST, REPLY, 200) == (exchange.request, exchange.response, exchange.status)


LC = {"lc": 1, "type": "constructor"}
LANGCHAIN = [
    [
        {**LC, "id": ["langchain", "HumanMessage"], "kwargs": {"content": "Hello"}},
        {
            **LC,
            "id": ["x", "AIMessage"],
            "kwargs": {"content": "", "tool_calls": [{"id": "a", "name": "f", "args": {}}]},
        },
        {**LC, "id": ["x", "ToolMessage"], "kwargs": {"content": '{"b":1}', "tool_call_id": "a"}},
    ]
]
GENERATION = {"type": "GENERATION", "traceId": "t", "model": "m"}


@pytest.mark.parametrize(
    "value",
    [
        {"run_type": "llm", "inputs": {"messages": REBUILT}, "outputs": REPLY},
        {
            "run_type": "llm",
            "inputs": {"messages": LANGCHAIN},
            "outputs": {"generations": [[{"message": {**LC, "id": ["AIMessageChunk"], "kwargs": {"content": "Hi"}}}]]},
        },
        {**GENERATION, "input": REBUILT, "output": {"role": "assistant", "content": "Hi"}},
        {**GENERATION, "input": json.dumps({"messages": REBUILT}), "output": json.dumps(REPLY)},
        {"id": "t", "observations": [{**GENERATION, "input": REBUILT, "output": REPLY}]},
    ],
)
def test_messages_of_a_trace_are_read_in_each_form(value: dict[str, Any]) -> None:
    (exchange,) = one(value).conversation
    assert REBUILT == exchange.request["messages"]
    assert [{"role": "assistant", "content": "Hi"}] == [choice["message"] for choice in exchange.response["choices"]]


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("skipped, runs of something other than a model", {"run_type": "chain", "inputs": {}}),
        ("skipped, a run without messages", {"run_type": "llm", "inputs": {"input": "a"}}),
        ("skipped, observations of something other", {"type": "SPAN", "traceId": "t", "input": None}),
        ("skipped, a generation without messages", {**GENERATION, "input": "Hello"}),
        ("npx @helicone/export --include-body", {"response_status": 200, "request_id": "a"}),
        (
            "skipped, neither chat completions nor",
            {"response_status": 200, "request_body": {"input": 1}, "response_body": {}},
        ),
    ],
)
def test_a_trace_that_cannot_be_checked_says_why(expected: str, value: dict[str, Any]) -> None:
    found = one(value)
    assert () == found.conversation
    assert expected in found.notes[0]
