"""Files of no format: the bodies in them are read, and what only looks like one is not."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from conformance.errors import InvalidDocument
from conformance.formats import Input, read
from tests import scripted
from tests.checking import check
from tests.loops import every
from tests.wires import REPLY, REQUEST

URL = "https://api.openai.com/v1/chat/completions"
ERROR = {"error": {"message": "Slow down.", "type": "rate_limit_error", "code": None}}
RAISED = f"Error code: 429 - {ERROR!r}"
POSTMAN = {
    "info": {"name": "x", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
    "item": [
        {
            "request": {"method": "POST", "url": {"raw": URL}, "body": {"mode": "raw", "raw": json.dumps(REQUEST)}},
            "response": [
                {"originalRequest": {"body": {"raw": json.dumps(REQUEST)}}, "code": 429, "body": json.dumps(ERROR)}
            ],
        }
    ],
}
SENTRY = {
    "level": "error",
    "exception": {"values": [{"type": "RateLimitError", "value": RAISED, "module": "openai"}]},
    "extra": {"messages": json.dumps(REQUEST["messages"])},
}
EXCHANGE = {"request": REQUEST, "response": ERROR, "status": 429}
INSOMNIA = {"_type": "export", "resources": [{"url": URL, "body": {"text": json.dumps(REQUEST)}}]}
CLOUDWATCH = [
    {"@timestamp": "2026-03-03", "@message": json.dumps({"request": REQUEST, "response": ERROR, "status": 429})}
]
FETCH = f'fetch("{URL}", {{\n  "headers": {{}},\n  "body": {json.dumps(json.dumps(REQUEST))},\n  "method": "POST"\n}});'
REPORT = (
    f"# Bug\n\n```sh\ncurl {URL} -d '{json.dumps(REQUEST)}'\n```\ngives\n```json\n{json.dumps(ERROR, indent=1)}\n```\n"
)
PRINTED = (
    "ChatCompletion(id='chatcmpl-1', choices=[Choice(finish_reason='stop', index=0, logprobs=None, message="
    "ChatCompletionMessage(content='Hello', refusal=None, role='assistant', tool_calls=None))], created=1760000000,"
    " model='gpt-5', object='chat.completion', usage=CompletionUsage(completion_tokens=2, prompt_tokens=8,"
    " total_tokens=10))"
)


def found(data: bytes | str | Any, name: str = "x.json") -> list[Input]:
    text = data if isinstance(data, str) else json.dumps(data)
    return list(read(text.encode(), name))


@every(
    ("status", "url", "name", "data"),
    [
        (429, URL, "x.json", POSTMAN),
        (429, "", "x.json", CLOUDWATCH),
        (None, URL, "x.md", REPORT),
        (
            429,
            "",
            "x.log",
            f"2026-03-03\t5b1f\tERROR\tfailed {json.dumps(EXCHANGE)}\n",
        ),
        (None, "", "x.log", f"request: {REQUEST!r}\nresponse: {ERROR!r}\n"),
        (None, "", "x.json", {"input": REQUEST, "output": ERROR, "tags": {}}),
        (
            429,
            "",
            "x.log",
            f'[pod/a] {{"level": "info", "call": {json.dumps({"q": REQUEST, "status": 429, "a": ERROR})}}}\n',
        ),
    ],
)
def test_a_request_and_the_error_after_it_are_one_exchange(status: int | None, url: str, name: str, data: Any) -> None:
    (given,) = found(data, name)
    (exchange,) = given.conversation
    assert ("inside", REQUEST, ERROR) == (given.kind, exchange.request, exchange.response)
    assert (status, url) == (exchange.status, exchange.url)


@every(
    ("name", "data"),
    [("x.json", INSOMNIA), ("x.js", FETCH), ("x.txt", repr(REQUEST)), ("x.json", {"a": {"b c": REQUEST}})],
)
def test_a_request_alone_is_read(name: str, data: Any) -> None:
    (given,) = found(data, name)
    assert (REQUEST, None) == (given.conversation[0].request, given.conversation[0].response)


def test_messages_of_an_event_belong_to_its_error_and_are_no_whole_request(tmp_path: Path) -> None:
    (given,) = found(SENTRY)
    (exchange,) = given.conversation
    assert ({"messages": REQUEST["messages"]}, 429, ERROR) == (exchange.request, exchange.status, exchange.response)
    path = tmp_path / "event.json"
    path.write_text(json.dumps(SENTRY))
    code, out, _ = check(path)
    assert (1, True, False) == (code, "account.rate-limited" in out, "shape/" in out)


def test_a_reply_as_python_prints_it_has_no_finding(tmp_path: Path) -> None:
    path = tmp_path / "reply.txt"
    path.write_text(PRINTED)
    code, out, _ = check(path)
    assert (0, True) == (code, "bodies inside another form (chat)" in out), out


def test_other_wires_are_found_too() -> None:
    reply = scripted.messages([{"type": "text", "text": "Hi"}], "end_turn")
    sent = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 9,
        "system": "x",
        "messages": [{"role": "user", "content": "?"}],
    }
    gemini = {"contents": [{"role": "user", "parts": [{"text": "?"}]}]}
    (one,) = found({"call": {"sent": sent, "got": reply}})
    assert (sent, reply) == (one.conversation[0].request, one.conversation[0].response)
    (other,) = found({"payload": gemini})
    assert gemini == other.conversation[0].request


def test_records_of_a_tool_inside_an_answer_of_its_api_are_read_as_such() -> None:
    entry = {
        "response_id": "a",
        "request_id": "b",
        "response_status": 200,
        "request_body": REQUEST,
        "response_body": REPLY,
    }
    assert ["helicone"] == [each.kind for each in found({"data": [entry], "error": None})]


@every(
    "data",
    [
        {"error": None, "data": []},
        {"users": [{"role": "admin", "content": "x"}]},
        {"role": "user", "name": "x"},
        'INFO:  "POST /chat HTTP/1.1" 200 OK\nfinished in 400 ms\n',
        "for (const x of [1, 2]) { call({a: 1}); }",
        {"chapters": [{"content": "no role"}]},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "Invalid params"}},
        "ValueError: 400 is not a port\nIllegalStateException: 404 entries expected\n",
        '10:00 data: {"price": 1}\n10:01 data: {"price": 2}\n',
        {"packed": base64.b64encode(json.dumps(REQUEST).encode()).decode()},
    ],
)
def test_what_only_looks_like_a_body_is_not_read(data: Any) -> None:
    with pytest.raises(InvalidDocument):
        found(data, "x.txt" if isinstance(data, str) else "x.json")


@pytest.mark.slow
def test_the_search_is_bounded() -> None:
    deep: Any = REQUEST
    for _ in range(100):
        deep = {"a": deep}
    for data in (json.dumps(deep), "{" * 100_000, "[" * 100_000, "Name(" * 50_000, json.dumps([{"a": 1}] * 50_000)):
        with pytest.raises(InvalidDocument):
            found(data, "x.txt")
