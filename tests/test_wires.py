"""What the bodies of each wire become in chat completions, with no two numbers alike, and where each part stood."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from conformance import wires
from conformance.documents.pointer import render
from conformance.wire.definitions import open_object
from conformance.wire.exchange import Exchange
from tests.loops import every

Body = dict[str, Any]

QUESTION: dict[str, Body] = {
    "messages": {"max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]},
    "responses": {"input": "Hello"},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]},
}


def read(wire: str, request: Body | None = None, reply: Body | None = None, status: int = 200) -> Exchange:
    """Return an exchange of a wire as one of chat completions."""
    protocol = wires.by_name(wire)
    asked = {"model": "m", **QUESTION[wire], **(request or {})}
    url = f"https://api.example.com/v1{protocol.path({'model': 'm'})}"
    return protocol.translate_one(Exchange.of_plain(request=asked, response=reply, status=status, url=url))


def ended(wire: str, signal: Any, *, called: bool = False) -> Body:
    """Return a reply with a stop signal, with text or with a call."""
    if wire == "messages":
        block = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
        content = [block if called else {"type": "text", "text": "Hi"}]
        return {"type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": signal}
    if wire == "gemini":
        part = {"functionCall": {"name": "f", "args": {}}} if called else {"text": "Hi"}
        return {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": signal}]}
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"}
    said = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}
    status, _, reason = signal.partition(" ")
    details = {"incomplete_details": {"reason": reason}} if reason else {}
    return {"object": "response", "id": "resp_1", "status": status, "output": [call if called else said], **details}


USAGE: list[tuple[str, Body, Body]] = [
    (
        "messages",
        {
            "input_tokens": 7,
            "cache_read_input_tokens": 20,
            "cache_creation_input_tokens": 300,
            "output_tokens": 4000,
            "output_tokens_details": {"thinking_tokens": 1000},
        },
        {
            "prompt_tokens": 327,
            "completion_tokens": 4000,
            "total_tokens": 4327,
            "prompt_tokens_details": {"cached_tokens": 20},
            "completion_tokens_details": {"reasoning_tokens": 1000},
        },
    ),
    (
        "messages",
        {"input_tokens": 7, "output_tokens": 40},
        {"prompt_tokens": 7, "completion_tokens": 40, "total_tokens": 47},
    ),
    (
        "responses",
        {
            "input_tokens": 7,
            "input_tokens_details": {"cached_tokens": 5},
            "output_tokens": 4000,
            "output_tokens_details": {"reasoning_tokens": 1000},
            "total_tokens": 4008,
        },
        {
            "prompt_tokens": 7,
            "completion_tokens": 4000,
            "total_tokens": 4008,
            "prompt_tokens_details": {"cached_tokens": 5},
            "completion_tokens_details": {"reasoning_tokens": 1000},
        },
    ),
    (
        "gemini",
        {
            "promptTokenCount": 7,
            "toolUsePromptTokenCount": 20,
            "cachedContentTokenCount": 5,
            "candidatesTokenCount": 300,
            "thoughtsTokenCount": 4000,
            "totalTokenCount": 4328,
        },
        {
            "prompt_tokens": 27,
            "completion_tokens": 4300,
            "total_tokens": 4328,
            "prompt_tokens_details": {"cached_tokens": 5},
            "completion_tokens_details": {"reasoning_tokens": 4000},
        },
    ),
    (
        "gemini",
        {"promptTokenCount": 7, "candidatesTokenCount": 40},
        {"prompt_tokens": 7, "completion_tokens": 40},
    ),
]


@pytest.mark.parametrize(("wire", "usage", "expected"), USAGE)
def test_every_token_is_counted_once(wire: str, usage: Body, expected: Body) -> None:
    signal = {"messages": "end_turn", "responses": "completed", "gemini": "STOP"}[wire]
    key = "usageMetadata" if wire == "gemini" else "usage"
    assert expected == read(wire, reply={**ended(wire, signal), key: usage}).response["usage"]


FINISHES: dict[str, dict[Any, tuple[str | None, str | None]]] = {
    "messages": {
        "end_turn": ("stop", "stop"),
        "stop_sequence": ("stop", "stop"),
        "pause_turn": ("stop", "stop"),
        "tool_use": ("tool_calls", "tool_calls"),
        "max_tokens": ("length", "length"),
        "model_context_window_exceeded": ("length", "length"),
        "refusal": ("content_filter", "content_filter"),
        "of_tomorrow": ("of_tomorrow", "of_tomorrow"),
        None: (None, None),
    },
    "responses": {
        "completed": ("stop", "tool_calls"),
        "incomplete max_output_tokens": ("length", "length"),
        "incomplete content_filter": ("content_filter", "content_filter"),
        "incomplete max_messages": ("stop", "stop"),
        "incomplete": ("stop", "stop"),
        "in_progress": (None, None),
    },
    "gemini": {
        "STOP": ("stop", "tool_calls"),
        1: ("stop", "tool_calls"),
        "MAX_TOKENS": ("length", "length"),
        2: ("length", "length"),
        "SAFETY": ("content_filter", "content_filter"),
        "RECITATION": ("content_filter", "content_filter"),
        "BLOCKLIST": ("content_filter", "content_filter"),
        "PROHIBITED_CONTENT": ("content_filter", "content_filter"),
        "SPII": ("content_filter", "content_filter"),
        "UNEXPECTED_TOOL_CALL": ("UNEXPECTED_TOOL_CALL", "tool_calls"),
        "MALFORMED_FUNCTION_CALL": ("MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"),
    },
}
"""The finish reason for each stop signal of a wire: without calls, and with one."""


@pytest.mark.parametrize("wire", FINISHES)
def test_a_stop_signal_is_one_finish_reason(wire: str) -> None:
    found = {
        signal: tuple(
            read(wire, reply=ended(wire, signal, called=called)).response["choices"][0]["finish_reason"]
            for called in (False, True)
        )
        for signal in FINISHES[wire]
    }
    assert FINISHES[wire] == found


NAMED = {"type": "function", "function": {"name": "f"}}
MESSAGES_TOOLS = {"tools": [{"name": "f", "input_schema": {}}, {"name": "bash", "type": "bash_20250124"}]}
RESPONSES_TOOLS = {"tools": [{"type": "function", "name": "f", "parameters": {}}]}


def calling(mode: str, *names: str) -> Body:
    allowed = {"allowedFunctionNames": [*names]} if names else {}
    return {"toolConfig": {"functionCallingConfig": {"mode": mode, **allowed}}}


CHOICES: list[tuple[str, Body, Body]] = [
    ("messages", {**MESSAGES_TOOLS, "tool_choice": {"type": "auto"}}, {"tool_choice": "auto"}),
    ("messages", {**MESSAGES_TOOLS, "tool_choice": {"type": "any"}}, {"tool_choice": "required"}),
    ("messages", {**MESSAGES_TOOLS, "tool_choice": {"type": "none"}}, {"tool_choice": "none"}),
    ("messages", {**MESSAGES_TOOLS, "tool_choice": {"type": "tool", "name": "f"}}, {"tool_choice": NAMED}),
    ("messages", {**MESSAGES_TOOLS, "tool_choice": {"type": "tool", "name": "bash"}}, {"tool_choice": "auto"}),
    (
        "messages",
        {**MESSAGES_TOOLS, "tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
        {"tool_choice": "required", "parallel_tool_calls": False},
    ),
    (
        "messages",
        {**MESSAGES_TOOLS, "tool_choice": {"type": "any", "disable_parallel_tool_use": False}},
        {"tool_choice": "required"},
    ),
    ("responses", {**RESPONSES_TOOLS, "tool_choice": "required"}, {"tool_choice": "required"}),
    ("responses", {**RESPONSES_TOOLS, "tool_choice": {"type": "function", "name": "f"}}, {"tool_choice": NAMED}),
    (
        "responses",
        {**RESPONSES_TOOLS, "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": []}},
        {"tool_choice": "required"},
    ),
    ("responses", {**RESPONSES_TOOLS, "tool_choice": {"type": "web_search"}}, {"tool_choice": "auto"}),
    ("responses", {"tools": [{"type": "web_search"}], "tool_choice": "required"}, {}),
    ("responses", {"tools": [], "tool_choice": "required"}, {"tool_choice": "required"}),
    ("responses", {**RESPONSES_TOOLS, "parallel_tool_calls": False}, {"parallel_tool_calls": False}),
    ("responses", {**RESPONSES_TOOLS, "parallel_tool_calls": True}, {"parallel_tool_calls": True}),
    ("gemini", calling("AUTO"), {"tool_choice": "auto"}),
    ("gemini", calling("VALIDATED"), {"tool_choice": "auto"}),
    ("gemini", calling("NONE"), {"tool_choice": "none"}),
    ("gemini", calling("ANY"), {"tool_choice": "required"}),
    ("gemini", calling("ANY", "f"), {"tool_choice": NAMED}),
    ("gemini", calling("ANY", "f", "g"), {"tool_choice": "required"}),
    ("gemini", calling("AUTO", "f"), {"tool_choice": "auto"}),
]


@pytest.mark.parametrize(("wire", "request_", "expected"), CHOICES)
def test_what_the_model_may_call_is_read(wire: str, request_: Body, expected: Body) -> None:
    made = read(wire, request_).request
    assert expected == {key: made[key] for key in ("tool_choice", "parallel_tool_calls") if key in made}


SETTINGS: list[tuple[str, Body, Body]] = [
    (
        "messages",
        {"max_tokens": 11, "temperature": 0.2, "top_p": 0.3, "stream": True, "thinking": {"type": "disabled"}},
        {"max_tokens": 11, "temperature": 0.2, "top_p": 0.3, "stream": True, "thinking": {"type": "disabled"}},
    ),
    (
        "responses",
        {"max_output_tokens": 11, "temperature": 0.2, "top_p": 0.3, "stream": True, "reasoning": {"effort": "low"}},
        {
            "max_completion_tokens": 11,
            "temperature": 0.2,
            "top_p": 0.3,
            "stream": True,
            "reasoning": {"effort": "low"},
        },
    ),
    ("responses", {"text": {"format": {"type": "text"}}}, {}),
    (
        "responses",
        {"text": {"format": {"type": "json_object"}}},
        {"response_format": {"type": "json_object"}},
    ),
    (
        "responses",
        {"text": {"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}, "strict": True}}},
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "a", "schema": {"type": "object"}, "strict": True},
            }
        },
    ),
    (
        "gemini",
        {"generationConfig": {"maxOutputTokens": 11, "temperature": 0.2, "topP": 0.3, "seed": 4}},
        {"max_tokens": 11, "temperature": 0.2, "top_p": 0.3, "generationConfig": {"seed": 4}},
    ),
    (
        "gemini",
        {"generation_config": {"max_output_tokens": 11, "thinking_config": {"include_thoughts": True}}},
        {"max_tokens": 11, "generationConfig": {"thinkingConfig": {"includeThoughts": True}}},
    ),
]


FAILURES: dict[str, Body] = {
    "chat": {"error": {"message": "Gone.", "type": "server_error", "param": None, "code": None}},
    "messages": {"type": "error", "error": {"type": "api_error", "message": "Gone."}},
    "responses": {"type": "error", "code": "server_error", "message": "Gone.", "param": None},
    "gemini": {"error": {"code": 503, "message": "Gone.", "status": "UNAVAILABLE"}},
}
"""The event that ends a stream with an error, as each vendor documents it."""


@pytest.mark.parametrize("wire", FAILURES)
def test_a_failure_inside_a_stream_has_the_form_of_the_wire(wire: str) -> None:
    event = wires.by_name(wire).failure("Gone.")
    assert (FAILURES[wire].get("type", ""), FAILURES[wire]) == (event.name, event.value)


@every(
    ("item", "expected"),
    [
        *((name, "responses") for name in ("message", "reasoning", "item_reference", "compaction", "additional_tools")),
        ("other", None),
    ],
)
def test_a_request_of_items_alone_is_recognised(item: str, expected: str | None) -> None:
    (translated,) = wires.translate((Exchange({"model": "m", "input": [{"type": item}]}),))
    assert expected == (None if translated.native is None else translated.native.protocol)


REPLIED = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}


@every(
    ("reply", "is_one"),
    [({"output": [REPLIED]}, True), ({"object": "response"}, True), ({"output": 5}, False), ({"other": []}, False)],
)
def test_a_response_is_known_by_its_output_or_by_its_object(reply: Body, is_one: bool) -> None:  # noqa: FBT001
    sent = Exchange({"model": "m", "input": "Hello"}, reply, 200, url="/v1/responses")
    (translated,) = wires.translate((sent,))
    assert is_one is ("choices" in translated.response)


@pytest.mark.parametrize(("wire", "request_", "expected"), SETTINGS)
def test_every_setting_is_read_under_its_name(wire: str, request_: Body, expected: Body) -> None:
    made = read(wire, request_).request
    assert expected == {key: value for key, value in made.items() if key not in ("model", "messages")}


RICH: dict[str, tuple[Body, Body]] = {
    "messages": (
        {
            "system": [{"type": "text", "text": "Be brief."}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "Look.", "signature": "c2ln"},
                        {"type": "redacted_thinking", "data": "b3A="},
                        {"type": "text", "text": "I look."},
                        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"city": "Paris"}},
                        {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "18"},
                        {"type": "tool_result", "tool_use_id": "toolu_2", "is_error": True, "content": []},
                        {"type": "text", "text": "And now?"},
                    ],
                },
            ],
            "tools": [7, {"name": "f", "description": "Tells.", "input_schema": {"type": "object"}}, {"name": "g"}],
        },
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "model": "m-2",
            "content": [
                {"type": "thinking", "thinking": "Again.", "signature": "c2ln"},
                {"type": "text", "text": "Then "},
                {"type": "text", "text": "this."},
                {"type": "tool_use", "id": "toolu_3", "name": "f", "input": {"city": "Rome"}},
            ],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 1, "output_tokens": 2},
        },
    ),
    "responses": (
        {
            "instructions": "Be brief.",
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
                {
                    "type": "reasoning",
                    "id": "rs_1",
                    "summary": [{"type": "summary_text", "text": "Look."}],
                    "encrypted_content": "b3A=",
                },
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"},
                {"type": "function_call", "id": "fc_2", "call_id": "call_2", "name": "g", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "call_1", "output": "18"},
                {"type": "function_call_output", "call_id": "call_2", "output": "19"},
            ],
            "tools": [
                {"type": "web_search"},
                {"type": "function", "name": "f", "description": "Tells.", "parameters": {}, "strict": True},
                {"type": "custom", "name": "g"},
            ],
            "text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}},
        },
        {
            "object": "response",
            "id": "resp_1",
            "model": "m-2",
            "status": "completed",
            "output": [
                {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "b3A="},
                {
                    "type": "message",
                    "id": "msg_1",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Then this."}],
                },
                {"type": "function_call", "id": "fc_3", "call_id": "call_3", "name": "f", "arguments": "{}"},
            ],
            "usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        },
    ),
    "gemini": (
        {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Weather?"}]},
                {
                    "role": "model",
                    "parts": [
                        {"text": "Look.", "thought": True},
                        {"text": "I look."},
                        {"functionCall": {"name": "f", "args": {"city": "Paris"}}, "thoughtSignature": "c2ln"},
                        {"functionCall": {"id": "own", "name": "g", "args": {}}},
                    ],
                },
                {
                    "role": "user",
                    "parts": [
                        {"functionResponse": {"name": "f", "response": {"output": "18"}}},
                        {"functionResponse": {"id": "own", "name": "g", "response": {"error": "no"}}},
                    ],
                },
            ],
            "tools": [
                {"googleSearch": {}},
                {"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT"}}, {"name": "g"}]},
            ],
        },
        {
            "responseId": "r-1",
            "modelVersion": "m-2",
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [
                            {"text": "Again.", "thought": True},
                            {"text": "Then this."},
                            {"functionCall": {"name": "f", "args": {"city": "Rome"}}},
                        ],
                    },
                    "finishReason": "STOP",
                }
            ],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3},
        },
    ),
}


@pytest.mark.parametrize("wire", RICH)
def test_each_part_of_an_exchange_is_read_and_its_place_is_known(wire: str, golden: Callable[[str, str], None]) -> None:
    made = read(wire, *RICH[wire])
    assert made.native is not None
    places = {render(place): render(native) for place, native in sorted(made.native.places.items(), key=str)}
    shown = {"request": made.request, "response": made.response, "places": places}
    golden(f"wire-{wire}.json", json.dumps(shown, indent=2, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("wire", RICH)
def test_each_part_of_an_exchange_is_written(wire: str, golden: Callable[[str, str], None]) -> None:
    made, rendering = read(wire, *RICH[wire]), wires.by_name(wire).writing
    asked = rendering.request(made.request)
    reply = rendering.reply(made.response, asked)
    events = [[each.name, each.value] for each in rendering.events(reply)]
    shown = {"request": asked, "reply": reply, "events": events}
    golden(f"wire-{wire}-written.json", json.dumps(shown, indent=1, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("wire", ["messages", "gemini"])
def test_a_status_of_400_or_more_comes_with_no_reply(wire: str) -> None:
    found = {status: read(wire, RICH[wire][0], RICH[wire][1], status).native for status in (200, 399, 400, 500)}
    assert {200: True, 399: True, 400: False, 500: False} == {
        status: native is not None and native.reply is not None for status, native in found.items()
    }


CLOSED = {"type": "object", "properties": {}, "additionalProperties": False}
OPEN = {"type": "object", "properties": {}}


@every(
    ("schema", "expected"),
    [
        (CLOSED, None),
        (OPEN, ()),
        ({"properties": {"a": CLOSED}}, ()),
        ({**CLOSED, "properties": {"a": CLOSED, "b": OPEN, "c": OPEN}}, ("properties", "b")),
        ({**CLOSED, "properties": {"a": {"type": "array", "items": OPEN}}}, ("properties", "a", "items")),
        ({"type": "array", "items": {"type": "array", "items": OPEN}}, ("items", "items")),
        ({"type": "array", "items": CLOSED}, None),
        ({"type": "string"}, None),
        (True, None),
    ],
)
def test_the_first_object_that_allows_undeclared_keys_is_found(schema: Any, expected: tuple[str, ...] | None) -> None:
    assert expected == open_object(schema)
