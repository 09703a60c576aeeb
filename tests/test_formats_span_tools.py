"""Spans of tools with attributes of their own, of calls on other wires, and of calls that failed."""

import json
from typing import Any

from conformance.formats import Input
from tests import scripted
from tests.loops import every
from tests.wires import ERROR, REBUILT, REPLY, REQUEST, one

RAISED = f"Error code: 400 - {ERROR}"
EXCEPTION = {
    "name": "exception",
    "attributes": {"exception.type": "openai.BadRequestError", "exception.message": RAISED},
}
SAID = {"role": "assistant", "content": "Hi"}
SPREAD = {
    "openinference.span.kind": "LLM",
    "input.value": "Hello",
    "llm.model_name": "m",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": "Hello",
    "llm.input_messages.1.message.role": "assistant",
    "llm.input_messages.1.message.tool_calls.0.tool_call.id": "a",
    "llm.input_messages.1.message.tool_calls.0.tool_call.function.name": "f",
    "llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments": "{}",
    "llm.input_messages.2.message.role": "tool",
    "llm.input_messages.2.message.tool_call_id": "a",
    "llm.input_messages.2.message.content": '{"b":1}',
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.contents.0.message_content.type": "text",
    "llm.output_messages.0.message.contents.0.message_content.text": "Hi",
}
PARTS = [
    {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
    {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "a", "toolName": "f", "input": {}}]},
    {
        "role": "tool",
        "content": [{"type": "tool-result", "toolCallId": "a", "output": {"type": "json", "value": {"b": 1}}}],
    },
]
VERCEL = {
    "ai.operationId": "ai.streamText.doStream",
    "ai.model.provider": "deepseek.chat",
    "ai.model.id": "m",
    "ai.prompt.messages": json.dumps(PARTS),
    "ai.response.text": "Hi",
}
GEN_AI = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m",
    "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Hello"}]}],
    "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "Hi"}]}],
}


def span(attributes: dict[str, Any], **more: Any) -> Input:
    return one({"name": "call", "traceId": "1", "spanId": "2", "attributes": attributes, **more})


@every("attributes", [SPREAD, VERCEL])
def test_messages_are_read_in_the_form_of_each_tool(attributes: dict[str, Any]) -> None:
    (exchange,) = span(attributes).conversation
    assert (REBUILT, "m") == (exchange.request["messages"], exchange.model)
    assert [SAID] == [choice["message"] for choice in exchange.response["choices"]]


@every(
    "attributes",
    [
        {
            "openinference.span.kind": "LLM",
            "input.value": json.dumps(REQUEST),
            "output.value": json.dumps(REPLY),
            "llm.model_name": "m",
        },
        {
            "mlflow.spanType": '"CHAT_MODEL"',
            "mlflow.spanInputs": json.dumps(REQUEST),
            "mlflow.spanOutputs": json.dumps(REPLY),
        },
        {
            "request_data": json.dumps(REQUEST),
            "response_data": json.dumps({"message": SAID}),
            "gen_ai.request.model": "m",
        },
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.input": json.dumps({"messages": REQUEST["messages"]}),
            "langfuse.observation.output": json.dumps(SAID),
            "langfuse.observation.model.name": REQUEST["model"],
        },
    ],
)
def test_a_request_that_a_tool_holds_as_it_was_given_is_checked_whole(attributes: dict[str, Any]) -> None:
    found = span(attributes)
    assert REQUEST == found.conversation[0].request
    assert "Hi" == found.conversation[0].response["choices"][0]["message"]["content"]
    assert "request/*" in found.rules


@every(
    ("provider", "key", "expected"),
    [
        ("anthropic", "messages", [{"role": "user", "content": "Hello"}]),
        ("gcp.gemini", "contents", [{"role": "user", "parts": [{"text": "Hello"}]}]),
        ("deepseek", "messages", [{"role": "user", "content": "Hello"}]),
    ],
)
def test_neutral_messages_are_put_on_the_wire_of_their_provider(provider: str, key: str, expected: Any) -> None:
    for name in ("gen_ai.provider.name", "gen_ai.system"):
        found = span(GEN_AI | {name: provider})
        assert (expected, provider) == (found.conversation[0].request[key], found.provider)


@every(
    ("attributes", "more", "expected"),
    [
        (GEN_AI | {"error.type": "BadRequestError"}, {"events": [EXCEPTION]}, (400, ERROR)),
        (SPREAD, {"events": [EXCEPTION]}, (400, ERROR)),
        (VERCEL, {"status": {"code": 2, "message": RAISED}}, (400, ERROR)),
        (GEN_AI, {"status": {"status_code": "ERROR", "description": RAISED}}, (400, ERROR)),
        (GEN_AI | {"error.type": "429"}, {}, (429, None)),
        (GEN_AI | {"error.type": "RateLimitError"}, {}, (429, None)),
        (VERCEL, {"status": {"code": 2, "message": "no"}}, (None, {"error": {"message": "no"}})),
    ],
)
def test_a_call_that_failed_has_its_status_and_error(attributes: Any, more: Any, expected: Any) -> None:
    (exchange,) = span(attributes, **more).conversation
    assert expected == (exchange.status, exchange.response)


DATADOG: dict[str, Any] = {
    "span_id": "1",
    "meta": {
        "kind": "llm",
        "model_name": "m-asked",
        "input": {
            "messages": [
                {"role": "user", "content": "Hello"},
                {
                    "role": "assistant",
                    "tool_calls": [{"tool_id": "a", "name": "f", "arguments": {}}],
                },
                {"role": "tool", "tool_results": [{"tool_id": "a", "name": "f", "result": '{"b":1}', "type": "x"}]},
            ]
        },
        "output": {"messages": [SAID]},
    },
}
BRAINTRUST: dict[str, Any] = {
    "span_attributes": {"type": "llm", "name": "Chat Completion"},
    "input": REBUILT,
    "output": [{"index": 0, "message": SAID}],
    "metadata": {"model": "m-asked", "provider": "openai"},
}
WEAVE: dict[str, Any] = {
    "op_name": "weave:///e/p/op/openai.chat.completions.create:x",
    "inputs": {"self": "<client>", "model": "m-asked", "messages": REBUILT},
    "output": {"choices": [{"index": 0, "message": SAID}]},
}
PORTKEY = {
    "ai_model": "x",
    "response_status_code": 200,
    "request.body": {"model": "m-asked", "messages": REBUILT},
    "response": {"body": {"choices": [{"index": 0, "message": SAID}]}},
}


@every(
    ("kind", "value"),
    [
        ("datadog", DATADOG),
        ("datadog", {"data": {"type": "span", "attributes": {"ml_app": "a", "spans": [DATADOG]}}}),
        ("braintrust", BRAINTRUST),
        ("weave", WEAVE),
        ("portkey", PORTKEY),
    ],
)
def test_rows_of_other_platforms_are_read(kind: str, value: dict[str, Any]) -> None:
    found = one(value)
    (exchange,) = found.conversation
    assert (kind, REBUILT, "m-asked") == (found.kind, exchange.request["messages"], exchange.model)
    assert [SAID] == [choice["message"] for choice in exchange.response["choices"]]


@every(
    "value",
    [
        {
            "traceId": "t",
            "type": "GENERATION",
            "input": REQUEST,
            "output": None,
            "level": "ERROR",
            "statusMessage": RAISED,
        },
        {"run_type": "llm", "inputs": REQUEST, "outputs": None, "error": f"BadRequestError({RAISED!r})Traceback"},
        {
            "call_type": "completion",
            "messages": REQUEST["messages"],
            "model": "m-asked",
            "response": {},
            "status": "failure",
            "error_str": f"litellm.BadRequestError: OpenAIException - {json.dumps(ERROR)}",
        },
        BRAINTRUST | {"input": REQUEST["messages"], "output": None, "error": f"BadRequestError: {RAISED}"},
        WEAVE
        | {
            "inputs": REQUEST,
            "output": None,
            "exception": f"Traceback (most recent call last):\nopenai.BadRequestError: {RAISED}",
        },
        DATADOG | {"meta": DATADOG["meta"] | {"input": REQUEST, "error": {"type": "x", "message": RAISED}}},
        {"ai_org": "openai", "response_status_code": 400, "request": {"body": REQUEST}, "response": {"body": ERROR}},
    ],
)
def test_other_logs_hold_failures_too(value: dict[str, Any]) -> None:
    (exchange,) = one(value).conversation
    assert (REQUEST, 400, ERROR) == (exchange.request, exchange.status, exchange.response)


@every(
    ("model", "url", "expected"),
    [
        ("gpt-5.1", "", "openai"),
        ("o3", "https://api.openai.com/v1", "openai"),
        ("deepseek-v4-flash", "", ""),
        ("gpt-5.1", "http://127.0.0.1/v1", ""),
    ],
)
def test_the_name_of_the_sdk_is_not_taken_for_the_host(model: str, url: str, expected: str) -> None:
    named = {"gen_ai.provider.name": "openai", "gen_ai.request.model": model, "gen_ai.openai.api_base": url}
    assert expected == span(GEN_AI | named).provider


def test_a_call_of_weave_is_on_the_wire_that_its_reply_shows() -> None:
    sent = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    reply = scripted.messages([{"type": "text", "text": "Hello"}], "end_turn")
    op = "weave:///e/p/op/anthropic.Messages.create:x"
    found = one({"op_name": op, "inputs": {"self": "<client>", **sent}, "output": reply})
    assert (sent, reply, "anthropic") == (
        found.conversation[0].request,
        found.conversation[0].response,
        found.provider,
    )
    skipped = one({"op_name": "weave:///e/p/op/agent:x", "inputs": {"question": "Hi"}, "output": "Hello"})
    assert ("weave", ()) == (skipped.kind, skipped.conversation)
