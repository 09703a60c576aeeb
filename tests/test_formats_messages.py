"""Messages without a body around them: as a list, one a line, or as datasets and applications hold them."""

import json
from pathlib import Path
from typing import Any

import pytest

from conformance import check
from conformance.formats import Input, read, read_path
from tests.loops import every

CALLS = [
    {"id": each, "type": "function", "function": {"name": "g", "arguments": "{}"}} for each in ("call_a", "call_b")
]
LISTS: dict[str, list[dict[str, Any]]] = {
    "chat": [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": CALLS},
        {"role": "tool", "tool_call_id": "call_a", "content": "9"},
        {"role": "user", "content": "Go on."},
    ],
    "messages": [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": each, "name": "g", "input": {}} for each in "ab"]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "9"}]},
    ],
    "responses": [
        {"role": "user", "content": "Weather?"},
        {"type": "function_call", "call_id": "call_a", "name": "g", "arguments": "{}"},
        {"type": "function_call", "call_id": "call_b", "name": "g", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_a", "output": "9"},
        {"role": "user", "content": "Go on."},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "Weather?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": each, "args": {}}} for each in "ab"]},
        {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {"t": 9}}}]},
    ],
}
COPILOT = [
    {"type": "session.start", "data": {"sessionId": "s"}},
    {"type": "user.message", "data": {"content": "Weather?"}},
    {
        "type": "assistant.message",
        "data": {"content": "", "toolRequests": [{"toolCallId": each, "name": "g", "arguments": {}} for each in "ab"]},
    },
    {"type": "tool.execution_start", "data": {"toolCallId": "a", "toolName": "g", "arguments": {}}},
    {"type": "assistant.message", "data": {"content": "I look.", "parentToolCallId": "a"}},
    {"type": "tool.execution_complete", "data": {"toolCallId": "a", "success": True, "result": {"content": "9"}}},
    {"type": "user.message", "data": {"content": "Go on."}},
]


def _rules(given: Input) -> list[str]:
    rules = given.rules or None
    found = check(given.conversation, rules=rules)
    return [each.rule for each in found for _ in each.findings if not each.rule.startswith("shape/request")]


def _lines(values: list[Any]) -> bytes:
    return "".join([f"{json.dumps(each)}\n" for each in values]).encode()


@every(("wire", "messages"), list(LISTS.items()))
def test_a_list_is_read_on_its_wire_and_not_as_a_body(wire: str, messages: list[Any]) -> None:
    for data in (json.dumps(messages).encode(), json.dumps({"info": {}, "messages": messages}).encode()):
        if wire in ("responses", "gemini") and data.startswith(b"{"):
            continue
        (given,) = read(data, "messages.json")
        assert ("messages", wire, ["transcript/calls-answered"]) == (given.kind, _wire(given), _rules(given))


@every(("wire", "messages"), list(LISTS.items()))
def test_messages_one_a_line_are_one_list(wire: str, messages: list[Any], tmp_path: Path) -> None:
    wrapped = [{"type": "session_start", "id": "s"}, *[{"type": "message", "message": each} for each in messages]]
    for values in (messages, wrapped):
        path = tmp_path / f"{wire}.jsonl"
        path.write_bytes(_lines(values))
        (given,) = read_path(path)
        assert (wire, ["transcript/calls-answered"]) == (_wire(given), _rules(given))
        skipped = ("skipped, lines that hold no message (1 times)",) if values is wrapped else ()
        assert skipped == given.notes


def test_lines_that_are_no_messages_are_left_out_and_counted() -> None:
    (given,) = read(_lines(COPILOT), "events.jsonl")
    assert ["transcript/calls-answered"] == _rules(given)
    assert "skipped, lines that hold no message (3 times)" == given.notes[0]
    checkpoint = [{"role": "_checkpoint", "id": 0}, *LISTS["chat"], {"role": "_usage", "token_count": 5}]
    (given,) = read(_lines(checkpoint[1:]), "context.jsonl")
    assert (["transcript/calls-answered"], 1) == (_rules(given), len(given.notes))


@pytest.mark.parametrize("key", ["temperature", "stream", "model"])
def test_a_body_without_a_model_is_one_if_it_has_parameters(key: str) -> None:
    body = {"messages": LISTS["chat"][:1], key: "x"}
    assert ["request"] == [each.kind for each in read(json.dumps(body).encode(), "request.json")]
    body = {"messages": LISTS["chat"][:1], "tools": []}
    assert ["messages"] == [each.kind for each in read(json.dumps(body).encode(), "dataset.json")]


def test_replies_one_a_line_are_replies() -> None:
    reply = {
        "type": "message",
        "role": "assistant",
        "content": [],
        "usage": {"input_tokens": 1},
        "stop_reason": "end_turn",
    }
    assert ["response", "response"] == [each.kind for each in read(_lines([reply, reply]), "replies.jsonl")]


def _wire(given: Input) -> str:
    from conformance import wires

    return wires.translate(given.conversation)[0].protocol


def test_lines_of_events_that_hold_items_are_a_stream(tmp_path: Path) -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "g", "arguments": "{}"}
    events: list[dict[str, Any]] = [
        {
            "type": "response.output_item.added",
            "sequence_number": 0,
            "output_index": 0,
            "item": {**call, "arguments": ""},
        },
        {"type": "response.output_item.done", "sequence_number": 1, "output_index": 0, "item": call},
    ]
    path = tmp_path / "call.chunks.txt"
    path.write_text("\n".join(json.dumps(each) for each in events), encoding="utf8")
    (given,) = read_path(path)
    assert "chunks" == given.kind
