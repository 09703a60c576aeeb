"""OpenTelemetry's spans and log records of chat calls, in each form in which they are written."""

import json
from typing import Any

import pytest

from conformance.documents import BOUNDS
from conformance.files import Checker, Task
from conformance.formats import read
from conformance.results import Level
from tests.loops import every
from tests.wires import REBUILT, lines, one


def part(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, **more}


SPAN_MESSAGES = [
    {"role": "user", "parts": [part("text", content="Hello")]},
    {"role": "assistant", "parts": [part("reasoning", content="x"), part("tool_call", id="a", name="f", arguments={})]},
    {"role": "tool", "parts": [part("tool_call_response", id="a", response={"b": 1})]},
]
SPAN_REPLY = [{"role": "assistant", "parts": [part("text", content="Hi")], "finish_reason": "stop"}]
FLAT = {
    "llm.request.type": "chat",
    "gen_ai.prompt.0.role": "user",
    "gen_ai.prompt.0.content": "Hello",
    "gen_ai.prompt.1.role": "assistant",
    "gen_ai.prompt.1.tool_calls.0.id": "a",
    "gen_ai.prompt.1.tool_calls.0.name": "f",
    "gen_ai.prompt.1.tool_calls.0.arguments": "{}",
    "gen_ai.prompt.2.role": "tool",
    "gen_ai.prompt.2.tool_call_id": "a",
    "gen_ai.prompt.2.content": '{"b":1}',
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "Hi",
}
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}


def span(attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "chat m", "context": {"span_id": "0x1"}, "attributes": attributes, **more}


def typed(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": typed(item)} for key, item in value.items()]}}
    return {"stringValue": value} if isinstance(value, str) else {"intValue": value}


CALLING: Any = REBUILT[1]
WITH_REASONING = [REBUILT[0], {**CALLING, "reasoning_content": "x"}, REBUILT[2]]
"""What the parts of a span hold; the flat attributes of older releases hold no reasoning."""
MESSAGES = {"gen_ai.input.messages": SPAN_MESSAGES, "gen_ai.output.messages": SPAN_REPLY}
TEXTS = {name: json.dumps(value) for name, value in MESSAGES.items()}


@pytest.mark.parametrize(
    "value",
    [
        span(CHAT | TEXTS),
        span(CHAT | MESSAGES),
        span(FLAT),
        span(CHAT, events=[{"name": "gen_ai.client.inference.operation.details", "attributes": TEXTS}]),
        {
            "resourceSpans": [
                {
                    "scopeSpans": [
                        {"spans": [{"spanId": "1", "attributes": typed(CHAT | MESSAGES)["kvlistValue"]["values"]}]}
                    ]
                }
            ]
        },
    ],
)
def test_a_span_is_read_in_each_form(value: dict[str, Any]) -> None:
    (exchange,) = one(value).conversation
    expected = REBUILT if value.get("attributes") == FLAT else WITH_REASONING
    assert expected == exchange.request["messages"]
    assert [{"role": "assistant", "content": "Hi"}] == [choice["message"] for choice in exchange.response["choices"]]


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("skipped, a span without messages", span(CHAT)),
        ("skipped, spans of something other than chat calls", span({"gen_ai.operation.name": "execute_tool"})),
        ("skipped, spans of something other than chat calls", span({"http.request.method": "POST"})),
        ("skipped, not chat completions: calls of cohere", span(CHAT | TEXTS | {"gen_ai.system": "cohere"})),
    ],
)
def test_a_span_that_cannot_be_checked_says_why(expected: str, value: dict[str, Any]) -> None:
    found = one(value)
    assert () == found.conversation
    assert expected in found.notes[0]


def test_a_span_whose_messages_were_cut_is_a_problem() -> None:
    found = one(span(CHAT | {"gen_ai.input.messages": TEXTS["gen_ai.input.messages"][:-9]}))
    assert found.problem is not None
    assert "expected JSON in gen_ai.input.messages, which a limit" in found.problem.message


def record(name: str, body: Any, span_id: str = "0x1", **more: Any) -> dict[str, Any]:
    return {"event_name": name, "body": body, "attributes": {"gen_ai.system": "openai"}, "span_id": span_id, **more}


CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
RECORDS = [
    record("gen_ai.user.message", {"content": "Hello"}, timestamp=None, observed_timestamp="2026-11-22T18:32:00Z"),
    record("gen_ai.assistant.message", {"tool_calls": [CALL]}),
    record("gen_ai.tool.message", {"id": "a", "content": '{"b":1}'}),
    record("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}}),
]


def otlp(records: list[dict[str, Any]]) -> dict[str, Any]:
    def encoded(given: dict[str, Any]) -> dict[str, Any]:
        attributes = typed(given["attributes"])["kvlistValue"]["values"]
        span = given["span_id"]
        return {
            "eventName": given["event_name"],
            "spanId": span,
            "attributes": attributes,
            "body": typed(given["body"]),
        }

    return {"resourceLogs": [{"scopeLogs": [{"logRecords": [encoded(each) for each in records]}]}]}


WHOLE = record("gen_ai.client.inference.operation.details", None) | {"attributes": CHAT | MESSAGES}


@pytest.mark.parametrize(
    "value",
    [
        RECORDS,
        otlp(RECORDS),
        [otlp(RECORDS[:2]), otlp(RECORDS[2:])],
        lines(*RECORDS),
        lines(otlp(RECORDS[:1]), otlp(RECORDS[1:])),
        WHOLE,
        {**WHOLE, "body": MESSAGES, "attributes": CHAT},
        otlp([{**WHOLE, "body": {}}]),
        [
            {key: each for key, each in given.items() if key != "event_name"}
            | {"attributes": {"event.name": given["event_name"]}, "severity_number": None}
            for given in RECORDS
        ],
    ],
)
def test_log_records_are_read_in_each_form(value: Any) -> None:
    (exchange,) = one(value).conversation
    whole = "operation.details" in str(value)
    assert (WITH_REASONING if whole else REBUILT) == exchange.request["messages"]
    assert [{"role": "assistant", "content": "Hi"}] == [choice["message"] for choice in exchange.response["choices"]]


def test_records_of_concurrent_calls_are_told_apart_by_their_spans() -> None:
    others = [{**each, "span_id": "0x2"} for each in RECORDS]
    mixed = [each for pair in zip(RECORDS, others, strict=True) for each in pair]
    found = list(read(lines(*mixed, *RECORDS[:1]), "x.jsonl"))
    assert [(1, 4), (2, 4), (9, 1)] == [
        (each.line, len(each.conversation[0].request["messages"]) + bool(each.conversation[0].response))
        for each in found
    ]
    assert [REBUILT, REBUILT] == [each.conversation[0].request["messages"] for each in found[:2]]
    assert ["2026-11-22"] * 3 == [each.conversation[0].date for each in found]


def test_a_line_with_parts_of_many_calls_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [{**each, "span_id": span} for each in RECORDS[:3] for span in ("1", "2", "3")]
    line, reply = lines(otlp(records)), lines(*[{**RECORDS[3], "span_id": span} for span in ("1", "2", "3")])
    monkeypatch.setattr("conformance.formats.rebuilt.BOUNDS", BOUNDS._replace(bytes=len(line) + len(reply)))
    found = list(read(line + reply, "x.jsonl"))
    assert [REBUILT] * 3 == [each.conversation[0].request["messages"] for each in found]
    monkeypatch.setattr("conformance.formats.rebuilt.BOUNDS", BOUNDS._replace(bytes=len(line) - 2))
    assert any("may be incomplete" in note for each in read(line + reply, "x.jsonl") for note in each.notes)


def test_of_more_calls_than_are_held_at_once_the_oldest_are_checked_as_they_are() -> None:
    records = [{**RECORDS[0], "span_id": f"0x{number}"} for number in range(1002)]
    found = list(read(lines(*records), "x.jsonl"))
    assert (1002, [1, 2]) == (
        len(found),
        [each.line for each in found if any("may be incomplete" in note for note in each.notes)],
    )


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("skipped, log records of something other than chat calls", record("app.started", None)),
        ("skipped, log records of something other than chat calls", WHOLE | {"attributes": {}}),
        ("skipped, log records without messages; with OTEL_", record("gen_ai.user.message", {})),
        ("skipped, log records without messages; with OTEL_", WHOLE | {"attributes": CHAT}),
        (
            "skipped, not chat completions: calls of anthropic",
            RECORDS[0] | {"attributes": {"gen_ai.system": "anthropic"}},
        ),
    ],
)
def test_log_records_that_cannot_be_checked_say_why(expected: str, value: dict[str, Any]) -> None:
    for data in (value, lines(value, value), [value, value]):
        for found in read(data if isinstance(data, bytes) else json.dumps(data).encode(), "x"):
            assert ((), 1) == (found.conversation, len(found.notes))
            assert expected in found.notes[0]


def test_a_record_whose_messages_were_cut_is_a_problem_and_the_others_are_read() -> None:
    cut = WHOLE | {"attributes": CHAT | {"gen_ai.input.messages": TEXTS["gen_ai.input.messages"][:-9]}}
    first, second = read(lines(cut, WHOLE), "x.jsonl")
    assert first.problem is not None
    assert "expected JSON in gen_ai.input.messages, which a limit" in first.problem.message
    assert 1 == len(second.conversation)


def test_a_result_that_answers_no_call_is_found_in_a_span() -> None:
    messages = [*SPAN_MESSAGES[:2], {"role": "tool", "parts": [part("tool_call_response", id="b", response="1")]}]
    report = Checker(Task(level=Level.MUST)).input(one(span(CHAT | {"gen_ai.input.messages": messages}))).report
    assert "transcript/result-answers-call" in [outcome["rule"] for outcome in report["outcomes"]]


_TAGS = {
    "gen_ai.operation.name": "chat",
    "gen_ai.system": "openai",
    "gen_ai.input.messages": json.dumps(
        [
            {"role": "assistant", "parts": [{"type": "tool_call", "id": "call_a", "name": "g", "arguments": {}}]},
            {"role": "user", "parts": [{"type": "text", "content": "Go on."}]},
        ]
    ),
}
_RAISED = "Error code: 400 - {'error': {'message': 'Too long.'}}"


@every(
    ("name", "value"),
    [
        (
            "Jaeger",
            {
                "data": [
                    {
                        "spans": [
                            {
                                "spanID": "b",
                                "tags": [{"key": key, "type": "string", "value": each} for key, each in _TAGS.items()],
                                "logs": [
                                    {
                                        "fields": [
                                            {"key": "event", "value": "exception"},
                                            {"key": "exception.message", "value": _RAISED},
                                        ]
                                    }
                                ],
                            }
                        ]
                    }
                ]
            },
        ),
        (
            "Zipkin",
            [
                {
                    "traceId": "a",
                    "id": "b",
                    "name": "chat",
                    "tags": {**_TAGS, "otel.status_code": "ERROR", "otel.status_description": _RAISED},
                }
            ],
        ),
        (
            "MLflow",
            {
                "info": {},
                "data": {"spans": [{"attributes": _TAGS, "status_code": "ERROR", "status_message": _RAISED}]},
            },
        ),
    ],
)
def test_tags_are_attributes_and_failures_are_found(name: str, value: Any) -> None:
    (given,) = read(json.dumps(value).encode(), "spans.json")
    (exchange,) = given.conversation
    assert ("spans", 400, "call_a") == (
        given.kind,
        exchange.status,
        exchange.request["messages"][0]["tool_calls"][0]["id"],
    ), name
