"""Anthropic's messages: generated and recorded traffic comes back, and streams are assembled."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.convert import dialects
from conformance.convert.dialects import CANONICAL
from conformance.documents import read_json
from conformance.documents.pointer import edit
from conformance.errors import InvalidDocument
from conformance.resources import folder
from conformance.schemas import validator
from conformance.wires.messages.reading import assembled
from tests.losses import OBJECTS, TEXT_VALUES, WORDS, goes_and_returns, marked, missing
from tests.sampling import examples

DIALECT = dialects.load("messages")
to_canonical, to_native = DIALECT.to_canonical, DIALECT.to_native
NOT_ANTHROPIC = {
    (
        "messages.0: Input does not match the expected shape.",
        "request",
    ): "a message that is not an object, answered with 400",
    ("", "request"): "a request to another API, filed under the wrong name",
    ("", "response"): "its reply",
}


def called(ident: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": ident, "type": "function", "function": {"name": "f", "arguments": text}, **more}


TEXT = TEXT_VALUES.map(lambda text: {"type": "text", "text": text})
IMAGE = st.sampled_from(
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/cat.png"}},
        {
            "type": "document",
            "title": "a.pdf",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
        },
        {"type": "document", "source": {"type": "file", "file_id": "file_1"}},
    ]
)
THINKING = st.fixed_dictionaries({"type": st.just("thinking"), "thinking": WORDS, "signature": WORDS})
REDACTED = st.fixed_dictionaries({"type": st.just("redacted_thinking"), "data": WORDS})
USE = st.fixed_dictionaries({"type": st.just("tool_use"), "id": TEXT_VALUES, "name": TEXT_VALUES, "input": OBJECTS})
RESULT = st.fixed_dictionaries(
    {"type": st.just("tool_result"), "tool_use_id": TEXT_VALUES, "content": WORDS | st.lists(TEXT, min_size=1)}
)


@st.composite
def assistant_messages(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an assistant message: thinking anywhere, but no text after a call."""
    rest = [*draw(st.lists(TEXT, max_size=2)), *draw(st.lists(USE, max_size=2))]
    for block in draw(st.lists(THINKING | REDACTED, max_size=3)):
        rest.insert(draw(st.integers(0, len(rest))), block)
    return {"role": "assistant", "content": rest}


@st.composite
def turn(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw user and assistant messages, with tool results before the user's text."""
    results = draw(st.lists(RESULT, max_size=2))
    more = draw(st.lists(TEXT | IMAGE, min_size=0 if results else 1, max_size=2))
    return [{"role": "user", "content": [*results, *more]}, draw(assistant_messages())]


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a request that the transcript can hold in full."""
    system = draw(st.just({}) | (TEXT_VALUES | st.lists(TEXT, min_size=1)).map(lambda system: {"system": system}))
    spoken = draw(st.lists(turn() | WORDS.map(lambda text: [{"role": "user", "content": text}]), max_size=3))
    messages = [message for each in spoken for message in each]
    follows = [
        place
        for place, message in enumerate(messages[1:], 1)
        if messages[place - 1]["role"] == message["role"] and isinstance(messages[place - 1]["content"], list)
    ]
    return {**system, "messages": [message for place, message in enumerate(messages) if place not in follows]}


@settings(max_examples=examples(150))
@given(requests())
def test_a_request_that_the_transcript_can_hold_comes_back_equal(native: dict[str, Any]) -> None:
    goes_and_returns(DIALECT, native)


def records(shared: Path) -> list[dict[str, Any]]:
    with gzip.open(shared / "recordings" / "anthropic_native.jsonl.gz") as lines:
        return [json.loads(line) for line in lines]


def test_every_recorded_exchange_comes_back_without_the_named_losses(shared: Path) -> None:
    came, refused = 0, []
    for record in records(shared):
        for side in ("request", "response"):
            native = record[side]
            if isinstance(native, str) and not native.startswith("event:"):
                continue
            try:
                dialects.validate(native, "messages")
            except InvalidDocument:
                reply = record["response"]
                refused.append((reply.get("error", {}).get("message", ""), side))
                continue
            converted = to_canonical(native)
            dialects.validate(converted.value, CANONICAL)
            back = to_native(converted.value)
            assert () == back.lost
            dialects.validate(back.value, "messages")
            whole = marked(assembled(native) if isinstance(native, str) else native, converted.lost)
            if side == "response":
                whole = {"messages": [whole]} if converted.value else {}
            assert "" == missing(whole, back.value), (record["ref"], converted.lost)
            came += 1
    assert sorted(NOT_ANTHROPIC) == sorted(refused)
    assert came > 190


EVENTS = read_json(folder("fixtures") / "dialects" / "messages" / "stream.json")


def stream(*without: str) -> str:
    assert isinstance(EVENTS, dict)
    events = str(EVENTS["native"]).split("\n\n")
    return "\n\n".join(event for event in events if not any(word in event for word in without))


def test_the_arguments_of_a_cut_off_call_are_read_as_far_as_possible() -> None:
    thinking, call = assembled(stream("lo\\"))["content"]
    assert "The tool knows." == thinking["thinking"]
    assert {"city": "Os"} == call["input"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ('data: {"type": "error", "error": {"type": "overloaded_error", "message": "no"}}\n\n', {"type": "error"}),
        (stream("content_block_start"), {"role": "assistant", "content": [], "stop_reason": "tool_use"}),
    ],
)
def test_an_incomplete_stream_gives_what_it_has(text: str, expected: dict[str, Any]) -> None:
    assert expected == {key: value for key, value in assembled(text).items() if expected.get(key) == value}


@pytest.mark.parametrize("text", ["upstream connect error", "data: [DONE]\n\n"])
def test_a_text_that_is_not_an_event_stream_is_refused(text: str) -> None:
    with pytest.raises(InvalidDocument, match=r"x\.sse: in the event stream: expected"):
        to_canonical(text, "x.sse")


def test_a_stream_with_invalid_blocks_is_refused_with_its_pointer() -> None:
    text = 'data: {"type":"message_start","message":{"role":"assistant"}}\n\n'
    block = 'data: {"type":"content_block_start","index":0,"content_block":{"type":"text"}}\n\n'
    with pytest.raises(InvalidDocument, match=r"in the event stream: .* \(at /content/0\)"):
        to_canonical(text + block)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"reasoning_content": "x"}, ["/0/reasoning_content"]),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "x"}]}, ["/0/reasoning_details/0"]),
        (
            {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x", "format": "openai-responses-v1"}]},
            ["/0/reasoning_details/0"],
        ),
        (
            {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x", "id": "rs_1"}]},
            ["/0/reasoning_details/0"],
        ),
        (
            {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x", "id": "r1", "index": 3}]},
            ["/0/reasoning_details/0/id", "/0/reasoning_details/0/index"],
        ),
        ({"tool_calls": [called("c", '{"a": 1}')]}, ["/0/tool_calls/0/function/arguments"]),
        ({"tool_calls": [called("c", '{"a":"b')]}, ["/0/tool_calls/0/function/arguments"]),
        (
            {"tool_calls": [called("c", "{}", extra_content={"google": {"thought_signature": "s"}})]},
            ["/0/tool_calls/0/extra_content"],
        ),
        ({"content": [{"type": "text", "text": "x"}], "refusal": "no"}, ["/0/content", "/0/refusal"]),
    ],
)
def test_what_a_block_cannot_hold_is_named_as_lost(message: dict[str, Any], expected: list[str]) -> None:
    assert expected == [loss.pointer for loss in to_native([{"role": "assistant", **message}]).lost]


def test_later_instructions_are_joined_with_the_first_and_named_as_lost() -> None:
    converted = to_native([
        {"role": "system", "content": "A"}, {"role": "user", "content": "Hi"}, {"role": "developer", "content": "B"},
    ])  # fmt: skip
    assert [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}] == converted.value["system"]
    assert ["/2/role", "/2", "/0/content"] == [loss.pointer for loss in converted.lost]


EXAMPLE = {
    "model": "claude-example-1",
    "max_tokens": 1024,
    "system": "Answer in one sentence.",
    "messages": [
        {"role": "user", "content": "Is it cold in Oslo?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "The tool knows.", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "b3BhcXVl"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Oslo"}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "9"}]},
    ],
}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"/messages/0/role": "tool"}, "/messages/0/role"),
        ({"/messages/1/content/0/signature": 1}, "/messages/1/content/0/signature"),
        ({"/messages/1/content/1/data": 1}, "/messages/1/content/1/data"),
        ({"/messages/1/content/2/text": None}, "/messages/1/content/2/text"),
        ({"/messages/1/content/3/input": "{}"}, "/messages/1/content/3/input"),
        ({"/messages/2/content/0/tool_use_id": 7}, "/messages/2/content/0/tool_use_id"),
        ({"/messages/2/content/-": {"type": "image"}}, "/messages/2/content/1"),
        ({"/system": 1}, "/system"),
    ],
)
def test_the_schema_points_to_an_invalid_block(change: dict[str, Any], expected: str) -> None:
    assert () == validator("wires/messages/request").errors(EXAMPLE)
    with pytest.raises(InvalidDocument, match=f"at {expected}: "):
        dialects.validate(edit(EXAMPLE, change), "messages")


def test_instructions_among_the_messages_come_back_in_the_system_prompt_and_are_named() -> None:
    later = {"role": "system", "content": [{"type": "text", "text": "B"}, {"type": "tool_addition", "tool": {}}]}
    converted = to_canonical({"system": "A", "messages": [{"role": "user", "content": "Hi"}, later]})
    assert ["/messages/1", "/messages/1/content/1", "/system"] == [loss.pointer for loss in converted.lost]
    assert ["A", "Hi", [{"type": "text", "text": "B"}]] == [message["content"] for message in converted.value]
    assert ["A", "B"] == [block["text"] for block in to_native(converted.value).value["system"]]


def test_thinking_without_a_signature_goes_back_only_where_it_came_from() -> None:
    message = {"role": "assistant", "content": [{"type": "thinking", "thinking": "Look."}]}
    converted = to_canonical({"messages": [message]})
    detail = {"type": "reasoning.text", "text": "Look.", "format": "anthropic-claude-v1", "index": 0}
    assert [{"role": "assistant", "content": "", "reasoning_details": [detail]}] == converted.value
    assert () == converted.lost
    assert [message] == to_native(converted.value).value["messages"]
    of_others = to_native([{"role": "assistant", "content": "", "reasoning_content": "Look."}])
    assert ["/0/reasoning_content"] == [loss.pointer for loss in of_others.lost]
    assert [{"role": "assistant", "content": []}] == of_others.value["messages"]
