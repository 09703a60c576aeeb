"""Histories of agent frameworks: a call without a result is found in each form, and a whole history has no finding."""

import json
from typing import Any

import pytest

from conformance import check
from conformance.formats import Input, read
from conformance.formats.histories import canonical
from tests.loops import every

OSLO, BERGEN = {"city": "Oslo"}, {"city": "Bergen"}
TEXT = json.dumps(OSLO)


def _lc(name: str, **values: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": values}


def _calls(name: str, **shared: Any) -> list[dict[str, Any]]:
    return [{"name": "get_weather", name: arguments, "id": each, **shared} for each, arguments in IDS.items()]


IDS = {"call_a": OSLO, "call_b": BERGEN}
FUNCTIONS = [{"id": each, "type": "function", "function": {"name": "g", "arguments": TEXT}} for each in IDS]
# By framework: the question, two calls, the result of the first one and of the second one, and what the user says then.
FORMS: dict[str, tuple[Any, Any, Any, Any, Any]] = {
    "LangChain, as JSON": (
        _lc("HumanMessage", content="Weather?"),
        _lc("AIMessage", content="", tool_calls=_calls("args", type="tool_call")),
        _lc("ToolMessage", content="9", tool_call_id="call_a"),
        _lc("ToolMessage", content="8", tool_call_id="call_b"),
        _lc("HumanMessage", content="Go on."),
    ),
    "LangChain, as dicts": (
        {"type": "human", "data": {"content": "Weather?"}},
        {"type": "ai", "data": {"content": "", "tool_calls": _calls("args")}},
        {"type": "tool", "data": {"content": "9", "tool_call_id": "call_a"}},
        {"type": "tool", "data": {"content": "8", "tool_call_id": "call_b"}},
        {"type": "human", "data": {"content": "Go on."}},
    ),
    "LangGraph": (
        {"type": "human", "content": "Weather?"},
        {
            "type": "ai",
            "content": [{"type": "tool_use", "id": "call_a", "name": "g", "input": OSLO}],
            "tool_calls": _calls("args"),
            "additional_kwargs": {"tool_calls": FUNCTIONS},
        },
        {"type": "tool", "content": "9", "tool_call_id": "call_a"},
        {"type": "tool", "content": "8", "tool_call_id": "call_b"},
        {"type": "human", "content": "Go on."},
    ),
    "Pydantic AI": (
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Weather?"}]},
        {
            "kind": "response",
            "parts": [
                {"part_kind": "tool-call", "tool_name": "g", "args": TEXT, "tool_call_id": "call_a"},
                {"part_kind": "tool-call", "tool_name": "g", "args": BERGEN, "tool_call_id": "call_b"},
            ],
        },
        {
            "kind": "request",
            "parts": [{"part_kind": "tool-return", "tool_name": "g", "content": 9, "tool_call_id": "call_a"}],
        },
        {
            "kind": "request",
            "parts": [{"part_kind": "retry-prompt", "tool_name": "g", "content": "No.", "tool_call_id": "call_b"}],
        },
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Go on."}]},
    ),
    "AI SDK, of a model": (
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": [
                {"type": "tool-call", "toolCallId": "call_a", "toolName": "g", "input": OSLO},
                {"type": "tool-call", "toolCallId": "call_b", "toolName": "g", "input": BERGEN},
            ],
        },
        {
            "role": "tool",
            "content": [{"type": "tool-result", "toolCallId": "call_a", "toolName": "g", "output": {"value": "9"}}],
        },
        {
            "role": "tool",
            "content": [{"type": "tool-result", "toolCallId": "call_b", "toolName": "g", "output": {"value": "8"}}],
        },
        {"role": "user", "content": "Go on."},
    ),
    "LlamaIndex": (
        {"role": "user", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "Weather?"}]},
        {"role": "assistant", "additional_kwargs": {"tool_calls": FUNCTIONS}, "blocks": []},
        {
            "role": "tool",
            "additional_kwargs": {"tool_call_id": "call_a", "name": "g"},
            "blocks": [{"block_type": "text", "text": "9"}],
        },
        {
            "role": "tool",
            "additional_kwargs": {"tool_call_id": "call_b", "name": "g"},
            "blocks": [{"block_type": "text", "text": "8"}],
        },
        {"role": "user", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "Go on."}]},
    ),
    "Semantic Kernel": (
        {"Role": {"Label": "user"}, "Items": [{"$type": "TextContent", "Text": "Weather?"}]},
        {
            "Role": {"Label": "assistant"},
            "Items": [
                {"$type": "FunctionCallContent", "Id": "call_a", "FunctionName": "g", "Arguments": OSLO},
                {"$type": "FunctionCallContent", "Id": "call_b", "FunctionName": "g", "Arguments": BERGEN},
            ],
        },
        {"Role": {"Label": "tool"}, "Items": [{"$type": "FunctionResultContent", "CallId": "call_a", "Result": "9"}]},
        {"Role": {"Label": "tool"}, "Items": [{"$type": "FunctionResultContent", "CallId": "call_b", "Result": "8"}]},
        {"Role": {"Label": "user"}, "Items": [{"$type": "TextContent", "Text": "Go on."}]},
    ),
    "Microsoft.Extensions.AI": (
        {"role": "user", "contents": [{"$type": "text", "text": "Weather?"}]},
        {
            "role": "assistant",
            "contents": [
                {"$type": "functionCall", "callId": "call_a", "name": "g", "arguments": OSLO},
                {"$type": "functionCall", "callId": "call_b", "name": "g", "arguments": BERGEN},
            ],
        },
        {"role": "tool", "contents": [{"$type": "functionResult", "callId": "call_a", "result": "9"}]},
        {"role": "tool", "contents": [{"$type": "functionResult", "callId": "call_b", "result": "8"}]},
        {"role": "user", "contents": [{"$type": "text", "text": "Go on."}]},
    ),
    "AutoGen": (
        {"type": "UserMessage", "source": "user", "content": "Weather?"},
        {
            "type": "AssistantMessage",
            "source": "a",
            "content": [{"id": each, "name": "g", "arguments": TEXT} for each in IDS],
        },
        {"type": "FunctionExecutionResultMessage", "content": [{"call_id": "call_a", "content": "9", "name": "g"}]},
        {"type": "FunctionExecutionResultMessage", "content": [{"call_id": "call_b", "content": "8", "name": "g"}]},
        {"type": "UserMessage", "source": "user", "content": "Go on."},
    ),
    "Haystack": (
        {"role": "user", "content": [{"text": "Weather?"}]},
        {
            "role": "assistant",
            "content": [{"tool_call": {"tool_name": "g", "arguments": OSLO, "id": each}} for each in IDS],
        },
        {"role": "tool", "content": [{"tool_call_result": {"result": "9", "origin": {"id": "call_a"}}}]},
        {"role": "tool", "content": [{"tool_call_result": {"result": "8", "origin": {"id": "call_b"}}}]},
        {"role": "user", "content": [{"text": "Go on."}]},
    ),
    "LangChain4j": (
        {"type": "USER", "contents": [{"type": "TEXT", "text": "Weather?"}]},
        {"type": "AI", "toolExecutionRequests": [{"id": each, "name": "g", "arguments": TEXT} for each in IDS]},
        {"type": "TOOL_EXECUTION_RESULT", "id": "call_a", "toolName": "g", "text": "9"},
        {"type": "TOOL_EXECUTION_RESULT", "id": "call_b", "toolName": "g", "text": "8"},
        {"type": "USER", "contents": [{"type": "TEXT", "text": "Go on."}]},
    ),
    "Genkit": (
        {"role": "user", "content": [{"text": "Weather?"}]},
        {"role": "model", "content": [{"toolRequest": {"name": "g", "ref": each, "input": OSLO}} for each in IDS]},
        {"role": "tool", "content": [{"toolResponse": {"name": "g", "ref": "call_a", "output": "9"}}]},
        {"role": "tool", "content": [{"toolResponse": {"name": "g", "ref": "call_b", "output": "8"}}]},
        {"role": "user", "content": [{"text": "Go on."}]},
    ),
    "Bedrock Converse": (  # and Strands
        {"role": "user", "content": [{"text": "Weather?"}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": each, "name": "g", "input": OSLO}} for each in IDS],
        },
        {"role": "user", "content": [{"toolResult": {"toolUseId": "call_a", "content": [{"text": "9"}]}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "call_b", "content": [{"json": {"t": 8}}]}}]},
        {"role": "user", "content": [{"text": "Go on."}]},
    ),
    "ADK": (
        {"author": "user", "content": {"role": "user", "parts": [{"text": "Weather?"}]}},
        {"author": "a", "content": {"role": "model", "parts": [{"function_call": each} for each in _calls("args")]}},
        {
            "content": {
                "role": "user",
                "parts": [{"function_response": {"id": "call_a", "name": "g", "response": {"t": 9}}}],
            }
        },
        {
            "content": {
                "role": "user",
                "parts": [{"function_response": {"id": "call_b", "name": "g", "response": {"t": 8}}}],
            }
        },
        {"author": "user", "content": {"role": "user", "parts": [{"text": "Go on."}]}},
    ),
    "Mastra": (
        {"role": "user", "content": {"format": 2, "parts": [{"type": "text", "text": "Weather?"}]}},
        {
            "role": "assistant",
            "content": {
                "format": 2,
                "parts": [{"type": "tool-call", "toolCallId": each, "toolName": "g", "args": {}} for each in IDS],
            },
        },
        {
            "role": "tool",
            "content": {"format": 2, "parts": [{"type": "tool-result", "toolCallId": "call_a", "result": "9"}]},
        },
        {
            "role": "tool",
            "content": {"format": 2, "parts": [{"type": "tool-result", "toolCallId": "call_b", "result": "8"}]},
        },
        {"role": "user", "content": {"format": 2, "parts": [{"type": "text", "text": "Go on."}]}},
    ),
    "Continue": (
        {"message": {"role": "user", "content": "Weather?"}, "contextItems": []},
        {"message": {"role": "assistant", "content": "", "toolCalls": FUNCTIONS}, "contextItems": []},
        {"message": {"role": "tool", "content": "9", "toolCallId": "call_a"}, "contextItems": []},
        {"message": {"role": "tool", "content": "8", "toolCallId": "call_b"}, "contextItems": []},
        {"message": {"role": "user", "content": "Go on."}, "contextItems": []},
    ),
}
INTERFACE: list[dict[str, Any]] = [
    {"id": "1", "role": "user", "parts": [{"type": "text", "text": "Weather?"}]},
    {
        "id": "2",
        "role": "assistant",
        "parts": [
            {"type": "step-start"},
            {"type": "tool-get_weather", "toolCallId": "call_a", "state": "output-available", "input": {}, "output": 9},
            {
                "type": "tool-get_weather",
                "toolCallId": "call_b",
                "state": "output-error",
                "input": {},
                "errorText": "No",
            },
            {"type": "text", "text": "It is 9 °C."},
        ],
    },
    {"id": "3", "role": "user", "parts": [{"type": "text", "text": "Thanks."}]},
]


def _inputs(value: Any) -> list[Input]:
    return list(read(json.dumps(value).encode(), "history.json"))


def _found(value: Any) -> list[tuple[str, str]]:
    (given,) = _inputs(value)
    return [(each.rule, one.at) for each in check(given.conversation, rules=given.rules) for one in each.findings]


@every(("name", "form"), list(FORMS.items()))
def test_a_call_without_a_result_is_found_in_each_form(name: str, form: tuple[Any, ...]) -> None:
    question, calls, first, second, later = form
    assert [("transcript/calls-answered", "/0/request/messages/1/tool_calls/1")] == _found(
        [question, calls, first, later]
    )
    assert [("transcript/result-answers-call", "/0/request/messages/1")] == _found([question, first, later])
    whole = [question, calls, first, second, later]
    assert [] == _found(whole)
    roles = [each["role"] for each in canonical(whole) if isinstance(each, dict)]
    assert ["user", "assistant", "tool", "tool", "user"] == roles, name


@every(
    ("name", "part"),
    [
        ("AI SDK", {"type": "reasoning", "text": "I look."}),
        ("Pydantic AI", {"part_kind": "thinking", "content": "I look."}),
        ("Converse", {"reasoningContent": {"reasoningText": {"text": "I look.", "signature": "x"}}}),
        ("ADK", {"text": "I look.", "thought": True}),
        ("LlamaIndex", {"block_type": "thinking", "content": "I look."}),
    ],
)
def test_reasoning_is_no_text(name: str, part: dict[str, Any]) -> None:
    spoken = {"role": "assistant", "parts": [part, {"toolCallId": "a", "toolName": "g", "input": {}}]}
    (message,) = canonical([spoken])
    assert ("I look.", None) == (message["reasoning_content"], message["content"]), name  # type: ignore[index,call-overload]


@every("key", ["messages", "history", "events", "chat"])
def test_a_history_is_found_inside_what_an_application_stores(key: str) -> None:
    question, calls, first, _, later = FORMS["ADK"]
    value = {"id": "s", "state": {"x": 1}, key: [question, calls, first, later]}
    assert [("transcript/calls-answered", "/0/request/messages/1/tool_calls/1")] == _found(value)


def test_a_message_of_an_interface_holds_a_whole_turn() -> None:
    assert [] == _found(INTERFACE)
    assert ["user", "assistant", "tool", "assistant", "tool", "assistant", "user"] == [
        each["role"] for each in canonical(INTERFACE) if isinstance(each, dict)
    ]
    part: Any = INTERFACE[1]["parts"][2]
    cut = {**INTERFACE[1], "parts": [{**part, "state": "input-available", "errorText": None}]}
    assert ["transcript/calls-answered"] == [rule for rule, _ in _found([INTERFACE[0], cut, INTERFACE[2]])]


def test_calls_without_ids_are_answered_by_the_name_of_their_tool() -> None:
    asked = {"role": "model", "content": [{"toolRequest": {"name": "g", "input": {}}}]}
    answer = {"role": "tool", "content": [{"toolResponse": {"name": "g", "output": 1}}]}
    assert [] == _found([{"role": "user", "content": [{"text": "x"}]}, asked, answer])
    assert ["transcript/result-answers-call"] == [rule for rule, _ in _found([asked, answer, answer])]


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}],
        [{"role": "assistant", "tool_calls": [{"id": "a", "name": "g", "arguments": "{}"}]}],
        [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "9"}]}],
        [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "g", "input": {"toolCallId": 1}}]}],
        [{"role": "model", "parts": [{"functionCall": {"name": "g", "args": {"toolUse": 1}}}]}],
        [{"type": "function_call_output", "call_id": "a", "output": "9"}],
    ],
    ids=["chat", "chat, broken", "messages", "messages, arguments", "gemini", "responses"],
)
def test_messages_of_a_wire_are_no_history_of_a_framework(messages: Any) -> None:
    assert [] == canonical(messages)


def test_a_body_of_converse_is_a_history_whatever_stands_beside_its_messages() -> None:
    question, calls, first, _, later = FORMS["Bedrock Converse"]
    body = {"modelId": "m", "system": [{"text": "x"}], "messages": [question, calls, first, later], "toolConfig": {}}
    assert [("transcript/calls-answered", "/0/request/messages/1/tool_calls/1")] == _found(body)
