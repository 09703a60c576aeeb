"""Ingress: a plain reply, a stream, or the message of one becomes the same message of the transcript."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.convert import ingress
from conformance.convert.dialects import CANONICAL, validate
from conformance.documents.pointer import resolve
from conformance.errors import Unusable
from conformance.wire.assemble import assemble
from conformance.wire.sse import read

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
READ = {"role": "assistant", "content": "Hm.", "reasoning_content": "Look.", "tool_calls": [CALL]}
MESSAGE = {"role": "assistant", "content": "Hm.", "reasoning": "Look.", "tool_calls": [CALL]}
DELTAS: list[dict[str, Any]] = [
    {"role": "assistant", "content": "", "reasoning": "Lo"},
    {"reasoning": "ok."},
    {"content": "Hm."},
    {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": '{"a": '}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]},
]


def stream(deltas: list[dict[str, Any]]) -> str:
    """Return the text of an event stream with these deltas."""
    chunks = [{"id": "x", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    events = [f"data: {orjson.dumps(chunk).decode()}\n\n" for chunk in chunks]
    return "".join([*events, "data: [DONE]\n\n"])


@pytest.mark.parametrize(
    "reply",
    [
        MESSAGE,
        {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}]},
        stream(DELTAS),
        stream(DELTAS).encode(),
        assemble(read(stream(DELTAS))),
    ],
    ids=["message", "body", "stream", "bytes", "assembled"],
)
def test_a_reply_is_read_the_same_plain_or_streamed(reply: Any) -> None:
    assert READ == ingress.read(reply)


@pytest.mark.parametrize(
    "reply", [{"error": {"message": "no"}}, {"choices": []}, {"choices": None}, {"choices": [{}]}, "", "data: 3\n\n"]
)
def test_a_reply_without_a_message_is_unusable(reply: Any) -> None:
    with pytest.raises(Unusable, match="got one without"):
        ingress.read(reply)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"function": {"name": "f"}}, {"id": "", "type": "function", "function": {"name": "f", "arguments": ""}}),
        (CALL | {"index": 3}, CALL),
        ({**CALL, "function": {"name": "f", "arguments": {"a": 1}}}, None),
        ({**CALL, "extra_content": {"google": {}}}, {**CALL, "extra_content": {"google": {}}}),
        ({**CALL, "extra_content": 3}, CALL),
    ],
)
def test_a_call_is_read_as_the_wire_has_it(call: dict[str, Any], expected: dict[str, Any] | None) -> None:
    message = ingress.read({"content": None, "tool_calls": [call, 3]})
    expected = expected or {**CALL, "function": {"name": "f", "arguments": '{"a":1}'}}
    assert [expected] == message["tool_calls"]
    validate([message], CANONICAL)


@pytest.mark.parametrize(
    ("content", "claims", "expected"),
    [
        ("<think>\na\n</think>\n\nb", {}, ("<think>\na\n</think>\n\nb", None)),
        ("<think>\na\n</think>\n\nb", {"reasoning.response-field": "think-tags"}, ("b", "a")),
        ("a</think>b", {"reasoning.response-field": ["reasoning", "think-tags"]}, ("b", "a")),
        ("<think>a</think>b", {"reasoning.response-field-switches": [{"at": "/x", "field": "think-tags"}]}, ("b", "a")),
        ("a</think>b", {"reasoning.response-field-switches": [{"at": "/x", "field": "think-tags"}]}, None),
        ([{"type": "reasoning", "summary": [{"type": "summary_text", "text": "a"}]}, 3], {}, ("", "a")),
        ([{"type": "reasoning", "text": "a"}, {"type": "text", "text": "b"}], {}, ("b", "a")),
    ],
)
def test_reasoning_in_the_content_is_found_if_it_is_claimed(
    content: Any, claims: dict[str, Any], expected: tuple[str, str | None] | None
) -> None:
    message = ingress.read({"content": content}, claims)
    assert (expected or (content, None)) == (message["content"], message.get("reasoning_content"))


def test_details_and_a_refusal_stay_verbatim() -> None:
    details = [{"type": "reasoning.encrypted", "data": "b3A=", "index": 0, "id": None}]
    message = ingress.read({"content": None, "refusal": "No.", "reasoning_details": details})
    assert {"role": "assistant", "content": "", "reasoning_details": details, "refusal": "No."} == message


AT = "/choices/0/message"
BIG = {**CALL, "function": {"name": "f", "arguments": {"n": 2**70}}}
CUSTOM = {"id": "c2", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}


def lost(message: dict[str, Any]) -> list[str]:
    """Return the pointers of what the transcript loses of a reply with this message."""
    converted = ingress.convert({"choices": [{"index": 0, "message": message}]})
    validate([converted.value], CANONICAL)
    return [loss.pointer for loss in converted.lost]


@pytest.mark.parametrize(
    ("fields", "expected", "pointers"),
    [
        ({"reasoning_content": "", "reasoning": "b"}, "b", []),
        ({"reasoning_content": None, "reasoning": "b"}, "b", []),
        ({"reasoning_content": "a", "reasoning": "a"}, "a", [f"{AT}/reasoning"]),
        ({"reasoning_content": "a", "reasoning": "b"}, "a", [f"{AT}/reasoning"]),
        ({"reasoning_content": "", "reasoning": ""}, "", []),
        ({"reasoning": {"text": "b"}}, None, [f"{AT}/reasoning"]),
        ({"reasoning": "", "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "c"}]}]}, "c", []),
        ({"reasoning": "", "reasoning_details": [{"type": "reasoning.text", "text": "d"}]}, "d", []),
    ],
)
def test_the_first_reasoning_that_is_not_empty_counts(
    fields: dict[str, Any], expected: str | None, pointers: list[str]
) -> None:
    assert expected == ingress.read({"content": "", **fields}).get("reasoning_content")
    assert pointers == lost({"content": "", **fields})


@pytest.mark.parametrize(
    ("fields", "pointers"),
    [
        ({"tool_calls": [CUSTOM, CALL]}, ["/tool_calls/0"]),
        ({"tool_calls": [{**CALL, "function": {"name": "", "arguments": "{}"}}]}, ["/tool_calls/0"]),
        ({"tool_calls": [{**CALL, "more": 1}]}, ["/tool_calls/0/more"]),
        ({"tool_calls": [{**CALL, "extra_content": 3}]}, ["/tool_calls/0/extra_content"]),
        ({"tool_calls": {"id": "c1"}}, ["/tool_calls"]),
        ({"function_call": {"name": "f", "arguments": "{}"}}, ["/function_call"]),
        ({"extra_content": {"google": {"thought": True}}}, ["/extra_content"]),
        ({"annotations": [{"type": "url_citation"}]}, ["/annotations"]),
        ({"annotations": [], "function_call": None}, []),
        ({"audio": {"id": "a1", "data": "UklGRg=="}}, ["/audio/data"]),
        ({"audio": {"data": "UklGRg=="}}, ["/audio"]),
        ({"content": [{"type": "image_url", "image_url": {"url": "data:,x"}}, 3]}, ["/content/0", "/content/1"]),
        ({"content": 3}, ["/content"]),
        ({"refusal": 3}, ["/refusal"]),
        ({"reasoning_details": [{"text": "a"}, 3]}, ["/reasoning_details/0", "/reasoning_details/1"]),
        ({"reasoning_details": [{"type": "reasoning.summary"}]}, ["/reasoning_details/0"]),
        ({"reasoning_details": "a"}, ["/reasoning_details"]),
        ({"thinking_blocks": [{"type": "thinking", "thinking": 3}]}, ["/thinking_blocks/0"]),
        ({"content": "\ud800"}, ["/content"]),
        ({"tool_calls": [BIG]}, ["/tool_calls/0/function/arguments/n"]),
    ],
)
def test_what_the_transcript_cannot_hold_of_a_reply_is_named(fields: dict[str, Any], pointers: list[str]) -> None:
    assert [AT + pointer for pointer in pointers] == lost({"content": "", **fields})


def test_other_choices_are_lost_and_a_lone_message_has_its_own_pointers() -> None:
    body = {"choices": [{"message": MESSAGE}, {"message": MESSAGE}]}
    assert ["/choices/1"] == [loss.pointer for loss in ingress.convert(body).lost]
    assert ["/function_call"] == [loss.pointer for loss in ingress.convert({**MESSAGE, "function_call": {"a": 1}}).lost]


INNER_KEYS = st.sampled_from(["type", "text", "thinking", "id", "function", "name", "data", "summary"])
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(INNER_KEYS, inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(
    [
        "content", "reasoning", "reasoning_content", "reasoning_details", "thinking_blocks", "tool_calls", "refusal",
        "audio", "function_call", "extra_content", "annotations",
    ]
)  # fmt: skip


@given(st.dictionaries(KEYS, ANY, max_size=4))
def test_a_message_of_any_shape_gives_a_valid_transcript_and_its_losses_exist(message: dict[str, Any]) -> None:
    converted = ingress.convert(message)
    validate([converted.value], CANONICAL)
    for loss in converted.lost:
        resolve(message, loss.pointer)
