"""Wolo's inner messages: what comes back equal, and what is named as lost."""

import copy
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given

from conformance import judge
from conformance.convert.dialects import CANONICAL, wolo
from conformance.documents import read_json
from conformance.documents.pointer import REMOVE, edit, resolve
from conformance.resources import folder
from conformance.schemas import check_schema, validator
from conformance.wire.exchange import Exchange
from tests.drawn_wolo import holdable, image, message, part, pointers, sessions, valid

NOTE = wolo.calls.UNFINISHED
SCHEMA: Any = read_json(folder("schemas") / "dialects" / "wolo.json")


def test_the_schema_is_one_and_passes_its_own_examples() -> None:
    assert () == check_schema(SCHEMA)
    for example in SCHEMA["examples"]:
        assert () == validator("dialects/wolo").errors(example)


@given(holdable())
def test_what_the_wire_can_hold_comes_back_equal(native: list[Any]) -> None:
    before = copy.deepcopy(valid(native, "wolo"))
    canonical = wolo.to_canonical(native)
    assert () == canonical.lost
    assert (native, ()) == wolo.to_native(valid(canonical.value, CANONICAL))
    assert before == native


@given(sessions)
def test_every_session_becomes_a_transcript_and_its_losses_exist(native: list[Any]) -> None:
    before = copy.deepcopy(valid(native, "wolo"))
    converted = wolo.to_canonical(native)
    assert before == native
    for loss in converted.lost:
        resolve(native, loss.pointer)
    valid(converted.value, CANONICAL)
    assert texts_of(native) == [word for one in converted.value for word in texts_in(one) if word]


def texts_of(native: list[Any]) -> list[str]:
    """Return the texts of a session in the order of the wire: texts, then the outputs of calls that have ended."""
    found = []
    for one in native:
        for reply in wolo.calls.replies(one):
            parts = [each for _, each in reply]
            found += [each["text"] for each in parts if each.get("text")]
            if one["role"] == "assistant":
                outputs = [each.get("output") if wolo.calls.ended(each) else NOTE for each in parts if "tool" in each]
                found += [output for output in outputs if output]
    return found


def texts_in(one: Mapping[str, Any]) -> list[str]:
    content = one["content"]
    return [content] if isinstance(content, str) else [part["text"] for part in content]


CALL = {"id": "call_0", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
SPOKEN: list[Any] = [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]
WIRE: list[Any] = [
    {"role": "user", "content": "Read."},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_0", "content": "A"},
]


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"/0/role": "developer"}, "/0/role"),
        ({"/0/name": "ada"}, "/0/name"),
        ({"/0/content": [*SPOKEN, image]}, "/0/content/2"),
        ({"/1/reasoning_details": [{"type": "reasoning.summary", "summary": "."}]}, "/1/reasoning_details"),
        ({"/1/reasoning_content": ""}, "/1/reasoning_content"),
        ({"/1/reasoning_content": "a", "/1/reasoning": "b"}, "/1/reasoning"),
        ({"/1/tool_calls/0/extra_content": {"google": {}}}, "/1/tool_calls/0/extra_content"),
        ({"/1/tool_calls/0/function/arguments": '{"path":"a"}'}, "/1/tool_calls/0/function/arguments"),
        ({"/1/tool_calls/0/function/arguments": '{"path": '}, "/1/tool_calls/0/function/arguments"),
        ({"/1/tool_calls/0/function/arguments": '"a"'}, "/1/tool_calls/0/function/arguments"),
        ({"/1/reasoning": "a"}, "/1/reasoning"),
        ({"/0/content": SPOKEN[:1]}, "/0/content"),
        ({"/2/content": SPOKEN}, "/2/content"),
        ({"/2/content": SPOKEN[:1]}, "/2/content"),
        ({"/-": WIRE[2]}, "/3"),
        ({"/2": REMOVE}, "/1/tool_calls/0"),
        ({"/-": {"role": "assistant", "content": ""}}, "/3"),
        ({"/-": {"role": "assistant", "content": None, "reasoning_content": "a"}}, "/3"),
    ],
)
def test_only_what_the_agent_cannot_hold_is_named_as_lost(changes: dict[str, Any], pointer: str) -> None:
    canonical = edit(WIRE, changes)
    native = wolo.to_native(valid(canonical, CANONICAL))
    valid(native.value, "wolo")
    assert [pointer] == pointers(native)


def test_a_result_of_no_call_is_lost_and_the_call_without_a_result_is_named() -> None:
    assert ["/1/tool_calls/0", "/2"] == pointers(wolo.to_native(edit(WIRE, {"/2/tool_call_id": "call_9"})))


def test_a_pending_call_is_answered_by_a_note_and_comes_back_pending() -> None:
    session = [message("user", text="Read."), message("assistant", part(0), part(1, "pending", "")), message("user")]
    converted = wolo.to_canonical(session)
    results = [each for each in converted.value if each["role"] == "tool"]
    assert [("call_0", "A"), ("call_1", wolo.calls.UNFINISHED)] == [
        (each["tool_call_id"], each["content"]) for each in results
    ]
    back = wolo.to_native(converted.value).value
    assert ["completed", "pending"] == [each["status"] for each in back[1]["parts"]]


@given(sessions)
def test_a_transcript_of_a_session_answers_its_calls_and_has_no_empty_assistant_message(native: list[Any]) -> None:
    transcript = wolo.to_canonical(native).value
    rules = ("transcript/calls-answered", "request/assistant-message-not-empty", "transcript/results-in-call-order")
    outcomes = judge.check([Exchange({"model": "m", "messages": transcript})])
    assert [] == [each.findings for each in outcomes if each.rule in rules and each.findings]


def test_the_example_of_the_document_has_no_timestamp() -> None:
    parts = [{"id": "text_002", "type": "text", "text": "I'll create it."}]
    native = {"id": "msg_001", "role": "assistant", "parts": parts, "finished": True, "finish_reason": "stop"}
    converted = wolo.to_canonical([native])
    assert [{"role": "assistant", "content": "I'll create it."}] == converted.value
    assert "/0/timestamp" not in pointers(converted)


@pytest.mark.parametrize(
    "change",
    [
        {"/0/id": REMOVE},
        {"/0/role": "tool"},
        {"/0/finish_reason": "content_filter"},
        {"/0/parts/0/status": "done"},
        {"/0/parts/0/type": "text"},
        {"/0/parts/0/type": "image"},
        {"/0/parts/0/input": "{}"},
        {"/0/parts/0/error": ""},
        {"/0/note": ""},
    ],
)
def test_a_value_that_is_not_of_the_dialect_is_invalid(change: dict[str, Any]) -> None:
    one = [message("assistant", part(0))]
    assert validator("dialects/wolo").is_valid(one)
    assert not validator("dialects/wolo").is_valid(edit(one, change))
