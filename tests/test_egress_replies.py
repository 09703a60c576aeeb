"""Ingress: a plain reply, a stream, or the message of one becomes the same message of the transcript."""

from typing import Any

import orjson
import pytest

from conformance.convert import ingress
from conformance.convert.dialects import CANONICAL, validate
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
