"""The public functions of the converter: examples, validation of both sides, errors."""

import doctest
import importlib
import json
from collections import OrderedDict
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import orjson
import pytest

from conformance import convert, profiles
from conformance.convert import dialects
from conformance.errors import InvalidDocument, UnknownName, Unusable
from conformance.wire.exchange import Exchange
from conformance.wire.losses import Converted

USER = {"role": "user", "content": "Hi"}
PLAIN = {"role": "assistant", "content": "Hello."}


@pytest.mark.parametrize("module", [convert, dialects], ids=lambda module: module.__name__)
def test_the_examples_hold(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert 0 == result.failed < result.attempted


@pytest.mark.parametrize("name", [dialects.CANONICAL, *dialects.names()])
def test_a_value_of_another_form_is_refused_with_its_pointer(name: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        convert.to_canonical(name, 1)
    assert ("<input>", "") == (caught.value.file, caught.value.pointer)


@pytest.mark.parametrize("name", [dialects.CANONICAL, *dialects.names()])
def test_a_transcript_of_another_form_is_refused_with_its_pointer(name: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        convert.from_canonical(name, [USER, {"role": "user"}])
    assert ("<input>", "/1") == (caught.value.file, caught.value.pointer)


@pytest.mark.parametrize("function", [convert.to_canonical, convert.from_canonical])
def test_an_unknown_dialect_is_named(function: Any) -> None:
    with pytest.raises(UnknownName, match="did you mean messages"):
        function("messagez", [])


def test_an_invalid_output_is_an_error() -> None:
    def broken(_: Any) -> Converted:
        return Converted([{"role": "nobody"}])

    with pytest.raises(InvalidDocument) as caught:
        dialects.checked("agent-loop", dialects.CANONICAL)(broken)([USER])
    assert ("<output>", "/0/role") == (caught.value.file, caught.value.pointer)
    with pytest.raises(InvalidDocument) as caught:
        dialects.checked(dialects.CANONICAL, "agent-loop")(broken)([USER])
    assert ("<output>", "/0") == (caught.value.file, caught.value.pointer)


CALLS: list[dict[str, Any]] = [
    USER,
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "now", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "12:00"},
]


def test_a_provider_is_a_name_a_file_a_profile_or_its_claims() -> None:
    profile = profiles.load("mistral")
    forms: list[convert.Provider] = [
        "mistral",
        profile,
        profile.at(),
        Path(profiles.__file__).with_name("mistral.yaml"),
    ]
    sent = [convert.prepare(CALLS, form).messages for form in forms]
    assert [sent[0]] * 4 == sent
    assert sent[0] != convert.prepare(CALLS).messages == CALLS


def test_notes_point_into_the_input() -> None:
    expected = ["/1/tool_calls/0/id", "/2/tool_call_id"]
    assert expected == [note.pointer for note in convert.prepare(CALLS, "mistral").notes]
    notes = convert.prepare({"model": "mistral-large-latest", "messages": CALLS}, "mistral").notes
    assert [f"/messages{pointer}" for pointer in expected] == [note.pointer for note in notes]


@pytest.mark.parametrize(("value", "pointer"), [([{"role": "user"}], "/0"), ({"model": "m"}, "/messages")])
def test_an_invalid_transcript_is_not_prepared(value: Any, pointer: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        convert.prepare(value)
    assert ("<input>", pointer) == (caught.value.file, caught.value.pointer)


BODY = {"choices": [{"index": 0, "message": PLAIN, "finish_reason": "stop"}]}
CHUNK = {"choices": [{"index": 0, "delta": PLAIN, "finish_reason": "stop"}]}
STREAM = f"data: {json.dumps(CHUNK)}\n\ndata: [DONE]\n\n"


@pytest.mark.parametrize(
    "reply",
    [BODY, PLAIN, json.dumps(BODY), json.dumps(BODY).encode(), STREAM, STREAM.encode(), Exchange(response=BODY)],
    ids=["body", "message", "text", "bytes", "stream", "stream-bytes", "exchange"],
)
def test_a_reply_is_parsed_in_every_form(reply: Any) -> None:
    assert PLAIN == convert.parse_reply(reply)


def test_the_model_of_an_exchange_counts() -> None:
    claims = {"reasoning.response-field": "think-tags"}
    tagged = {"choices": [{"message": {"role": "assistant", "content": "<think>\nHm.\n</think>\n\nHello."}}]}
    profile = profiles.Profile("p", models=(profiles.Model("m", profiles.of(claims).claims),))
    expected = {**PLAIN, "reasoning_content": "Hm."}
    assert expected == convert.parse_reply(Exchange({"model": "m"}, tagged), profile)
    assert expected == convert.parse_reply(Exchange({}, tagged, model="m"), profile)
    assert expected == convert.parse_reply(tagged, profile, model="m")
    assert "reasoning_content" not in convert.parse_reply(tagged, profile)


@pytest.mark.parametrize(
    "reply", [{"error": {"message": "no"}}, "", "<html>", '{"choices": [', Exchange(), {"choices": []}]
)
def test_a_reply_without_a_message_is_unusable(reply: Any) -> None:
    with pytest.raises(Unusable):
        convert.parse_reply(reply)


def test_mappings_and_sequences_of_every_kind_are_accepted() -> None:
    transcript = (OrderedDict(USER), MappingProxyType(PLAIN))
    for name in dialects.names():
        native = convert.from_canonical(name, transcript)
        assert [USER, PLAIN] == convert.to_canonical(name, native.value).value
    assert [USER, PLAIN] == convert.prepare(transcript).messages
    assert PLAIN == convert.parse_reply(MappingProxyType(BODY))


@pytest.mark.parametrize("function", [convert.to_canonical, convert.from_canonical])
def test_a_value_that_json_cannot_hold_is_a_type_error(function: Any) -> None:
    with pytest.raises(TypeError, match="set"):
        function("agent-loop", [{"role": "user", "content": {"a"}}])


@pytest.mark.parametrize(
    ("name", "value", "pointer"),
    [
        ("agent-loop", [{"role": "user", "content": [{"text": "Hi"}]}], "/0/content/0"),
        ("agent-loop", [{"role": "user", "content": []}], "/0/content"),
        ("agent-loop", [{"role": "system", "content": [{"type": "image_url"}]}], "/0/content"),
        ("agent-loop", [{**PLAIN, "reasoning_details": [{"text": "Hm."}]}], "/0/reasoning_details/0"),
        ("gemini", {"systemInstruction": {"parts": [{"text": 1}]}}, "/systemInstruction/parts/0/text"),
        ("gemini", {"systemInstruction": "Be brief."}, "/systemInstruction"),
    ],
)
def test_what_the_transcript_cannot_hold_is_refused_with_its_pointer(name: str, value: Any, pointer: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        convert.to_canonical(name, value)
    assert ("<input>", pointer) == (caught.value.file, caught.value.pointer)


def test_a_block_of_an_unknown_type_is_lost_whatever_its_source() -> None:
    blocks = [{"type": "hologram", "source": "data:,x"}, {"type": "text", "text": "Hi"}]
    converted = convert.to_canonical("messages", {"messages": [{"role": "user", "content": blocks}]})
    assert [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}] == converted.value
    assert ["/messages/0/content/0"] == [loss.pointer for loss in converted.lost]


@pytest.mark.parametrize(
    ("name", "value", "pointer"),
    [
        ("agent-loop", [{"role": "user", "content": "a\ud800"}], "/0/content"),
        ("messages", {"messages": [{"role": "user", "content": "a\ud800"}]}, "/messages/0/content"),
        ("gemini", {"contents": [{"parts": [{"text": "a\ud800"}]}]}, "/contents/0/parts/0/text"),
        ("neutral", {"Messages": [], "SystemPrompt": "a\ud800"}, "/SystemPrompt"),
        ("prompt-api", [{"role": "user", "content": "a\ud800"}], "/0/content"),
        ("canonical", [{"role": "user", "content": "a\ud800"}], "/0/content"),
    ],
)
def test_a_lone_surrogate_is_replaced_and_named(name: str, value: Any, pointer: str) -> None:
    converted = convert.to_canonical(name, value)
    assert (pointer, "a?") == (converted.lost[0].pointer, converted.value[0]["content"])
    orjson.dumps(converted.value)


TOOL_USE = {"type": "tool_use", "id": "c", "name": "f", "input": {"n": 2**70}}
TOOL_PART = {"id": "c", "type": "tool", "tool": "f", "input": {"n": 2**70}}
FUNCTION = {"id": "c", "function": {"name": "f", "arguments": {"n": 2**70}}}
BIG: dict[str, tuple[Any, str]] = {
    "messages": (
        {"messages": [{"role": "assistant", "content": [TOOL_USE]}]},
        "/messages/0/content/0/input/n",
    ),
    "prompt-api": ([{"role": "assistant", "toolCalls": [FUNCTION]}], "/0/toolCalls/0/function/arguments/n"),
    "wolo": (
        [{"id": "msg_001", "role": "assistant", "finished": True, "parts": [TOOL_PART]}],
        "/0/parts/0/input/n",
    ),
}


@pytest.mark.parametrize("name", BIG)
def test_an_integer_beyond_64_bits_is_replaced_and_named(name: str) -> None:
    value, pointer = BIG[name]
    converted = convert.to_canonical(name, value)
    assert pointer == converted.lost[0].pointer
    assert {"n": float(2**70)} == json.loads(converted.value[0]["tool_calls"][0]["function"]["arguments"])


def test_a_number_that_no_float_can_hold_is_refused_with_its_pointer() -> None:
    with pytest.raises(InvalidDocument) as caught:
        convert.to_canonical(
            "neutral", {"Messages": [{"type": "AssistantMessage", "Content": [], "Timestamp": 10**400}]}
        )
    assert "/Messages/0/Timestamp" == caught.value.pointer


def test_a_key_with_a_lone_surrogate_is_replaced_and_named_at_its_object() -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": {"\udcff": 1}}}
    converted = convert.to_canonical("prompt-api", [{"role": "assistant", "toolCalls": [call]}])
    assert "/0/toolCalls/0/function/arguments" == converted.lost[0].pointer


@pytest.mark.parametrize(
    ("name", "value"),
    [("agent-loop", [{"role": "function", "content": ""}]), ("wolo", [{"id": "m", "role": "tool", "parts": []}])],
)
def test_the_conversions_of_a_dialect_validate_their_input_too(name: str, value: Any) -> None:
    module = importlib.import_module(f"conformance.convert.dialects.{name.replace('-', '_')}")
    with pytest.raises(InvalidDocument) as caught:
        module.to_canonical(value)
    assert "/0/role" == caught.value.pointer
    with pytest.raises(InvalidDocument) as caught:
        module.to_native([{"role": "user"}])
    assert "/0" == caught.value.pointer


def test_system_messages_of_a_loop_are_plain_text() -> None:
    parts = [{"type": "text", "text": "Be "}, {"type": "text", "text": "brief."}]
    converted = convert.from_canonical("agent-loop", [{"role": "system", "content": parts}])
    assert [{"role": "system", "content": "Be brief."}] == converted.value
    assert ["/0/content"] == [loss.pointer for loss in converted.lost]
    with pytest.raises(InvalidDocument, match="/0/content"):
        convert.to_canonical("agent-loop", [{"role": "system", "content": parts}])
