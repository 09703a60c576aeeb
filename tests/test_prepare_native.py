"""`conformance prepare --protocol`: the request as it is sent on another wire, and what that wire cannot hold."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from conformance.cli import main
from conformance.convert import dialects, egress
from conformance.convert.native import native_request
from conformance.strategies import transcripts
from conformance.strategies.transcript import RESULTS
from conformance.wires import NATIVE
from tests.sampling import examples

CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"city": "Oslo"}'}}
THOUGHT = {"type": "reasoning.text", "text": "Look.", "signature": "c2ln", "format": "anthropic-claude-v1", "index": 0}
TURN = {"role": "assistant", "content": "", "reasoning_details": [THOUGHT], "tool_calls": [CALL]}
BODY: dict[str, Any] = {
    "model": "claude-sonnet-4-6",
    "max_completion_tokens": 4000,
    "thinking": {"type": "enabled", "budget_tokens": 2000},
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather?"},
        TURN,
        {"role": "tool", "tool_call_id": "call_1", "content": "9"},
    ],
}
SPEAKERS = {"messages": "anthropic", "responses": "openai", "gemini": "gemini"}
"""A provider of each wire."""

DIALECTS = {"messages": "messages", "responses": "responses", "gemini": "gemini"}


def prepared(tmp_path: Path, value: Any, *arguments: str) -> int:
    path = tmp_path / "given.json"
    path.write_text(json.dumps(value), "utf-8")
    return main(["prepare", *arguments, str(path)])


def test_the_request_is_printed_as_it_is_sent_on_that_wire(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == prepared(tmp_path, BODY, "--provider", "anthropic", "--protocol", "messages")
    out, err = capsys.readouterr()
    sent = json.loads(out)
    assert ("Be brief.", 4000) == (sent["system"], sent["max_tokens"])
    assert ["user", "assistant", "user"] == [message["role"] for message in sent["messages"]]
    assert ["thinking", "tool_use"] == [block["type"] for block in sent["messages"][1]["content"]]
    rewritten = (
        "/messages/2/tool_calls/0/function/arguments: a block holds the arguments as an object, and no other fields"
    )
    assert [f"note: {rewritten}"] == err.splitlines()


def test_what_the_wire_has_no_place_for_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    function = {"name": "f", "parameters": {"type": "object"}, "strict": True}
    foreign = {"type": "reasoning.encrypted", "data": "eA==", "format": "openai-responses-v1"}
    said = {"role": "assistant", "content": "It is cold.", "reasoning_details": [foreign]}
    more = {"seed": 7, "stop": ["x"], "tools": [{"type": "function", "function": function}]}
    messages = [*BODY["messages"], said, {"role": "user", "content": "Thanks."}]
    prepared(tmp_path, {**BODY, **more, "messages": messages}, "--provider", "anthropic", "--protocol", "messages")
    noted = {line.split(": ")[1] for line in capsys.readouterr().err.splitlines()}
    assert {"/seed", "/stop", "/tools/0/function/strict"} <= noted
    assert any(each.startswith("/messages/4/reasoning_details") for each in noted)


def test_notes_of_a_bare_transcript_point_into_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prepared(tmp_path, BODY["messages"], "--provider", "anthropic", "--model", "claude-x", "--format", "json")
    printed = json.loads(capsys.readouterr().out)
    assert "claude-x" == printed["request"]["model"]
    assert "/2/tool_calls/0/function/arguments" in {note["pointer"] for note in printed["notes"]}


def test_a_request_that_the_provider_rejects_there_gives_exit_code_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages = [{**message, "reasoning_details": []} if message is TURN else message for message in BODY["messages"]]
    assert 1 == prepared(tmp_path, {**BODY, "messages": messages}, "--provider", "anthropic")
    problems = [line for line in capsys.readouterr().err.splitlines() if line.startswith("problem: ")]
    assert any("/messages/1" in line and "(reasoning/present-on-tool-turns)" in line for line in problems)


def test_arguments_that_are_no_object_are_a_problem_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    function = {"name": "f", "arguments": '{"city": "Os'}
    turn = {**TURN, "tool_calls": [{**CALL, "function": function}]}
    messages = [turn if message is TURN else message for message in BODY["messages"]]
    code = prepared(tmp_path, {**BODY, "messages": messages}, "--provider", "anthropic")
    problems = [line for line in capsys.readouterr().err.splitlines() if line.startswith("problem: ")]
    assert 1 == code
    assert any("/messages/1/content" in line and "(native/request-shape)" in line for line in problems)


def test_a_provider_that_does_not_speak_the_wire_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == prepared(tmp_path, BODY, "--provider", "mistral", "--protocol", "messages")
    assert "the profile mistral has no claims about 'messages'; it has chat" in capsys.readouterr().err


@pytest.mark.parametrize("wire", NATIVE)
def test_each_wire_is_written(wire: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = {**BODY, "messages": [{"role": "user", "content": "Hi"}]}
    prepared(tmp_path, body, "--provider", SPEAKERS[wire], "--protocol", wire)
    sent = json.loads(capsys.readouterr().out)
    assert any(each == "Hi" for each in texts(sent))
    assert dialects.to_canonical(DIALECTS[wire], sent).value[0]["role"] == "user"


def texts(value: Any) -> Iterator[str]:
    """Yield every text in a value."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(inner)


def thinking(**detail: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "reasoning_details": [detail], "tool_calls": [CALL]}


SIGNED_CALL = {**CALL, "extra_content": {"google": {"thought_signature": "c2ln"}}}
OWN = {"type": "reasoning.encrypted", "data": "YmxvYg==", "id": "rs_1"}
PARTS = [
    {"type": "image_url", "image_url": {"url": "https://example.org/cat.png", "detail": "low"}},
    {"type": "file", "file": {"file_id": "file-1"}},
    {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
]
SENT_PARTS = [
    {"type": "input_image", "image_url": "https://example.org/cat.png", "detail": "low"},
    {"type": "input_file", "file_id": "file-1"},
]
SENT_CALL = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": '{"city": "Oslo"}'}
SENT_RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "9"}
RESULT = BODY["messages"][3]


@pytest.mark.parametrize(
    ("turn", "noted", "items"),
    [
        (thinking(type="reasoning.encrypted", data="eA==", format="anthropic-claude-v1"), ["/reasoning_details/0"], []),
        (thinking(type="reasoning.encrypted", data="eA=="), ["/reasoning_details/0"], []),
        (thinking(**THOUGHT), ["/reasoning_details/0"], []),
        (thinking(type="reasoning.text", text="Look.", signature="c2ln"), ["/reasoning_details/0"], []),
        (thinking(type="reasoning.encrypted", data="eA==", format="google-gemini-v1", id="call_1"),
         ["/reasoning_details/0"], []),
        (thinking(type="reasoning.of-tomorrow", whatever=1), ["/reasoning_details/0"], []),
        (thinking(**OWN), [], [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "YmxvYg=="}]),
        ({**TURN, "reasoning_details": [], "tool_calls": [SIGNED_CALL]}, ["/tool_calls/0/extra_content"], []),
    ],
)  # fmt: skip
def test_reasoning_that_responses_cannot_hold_is_named_and_not_sent(
    turn: Any, noted: list[str], items: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages = [{"role": "user", "content": "Weather?"}, turn, RESULT]
    assert 0 == prepared(tmp_path, messages, "--provider", "openai", "--protocol", "responses", "--format", "json")
    printed = json.loads(capsys.readouterr().out)
    assert [f"/1{place}" for place in noted] == [note["pointer"] for note in printed["notes"]]
    assert [*items, SENT_CALL, SENT_RESULT] == printed["request"]["input"][1:]


@pytest.mark.parametrize(
    ("message", "noted", "item"),
    [
        ({"role": "user", "content": "Hi", "name": "ada"}, {"/0/name": True}, {"role": "user", "content": "Hi"}),
        ({"role": "user", "content": PARTS}, {"/0/content/2": False}, {"role": "user", "content": SENT_PARTS}),
        ({"role": "developer", "content": "Hi"}, {}, {"role": "developer", "content": "Hi"}),
    ],
)
def test_what_responses_cannot_hold_of_a_message_is_named(
    message: Any, noted: dict[str, bool], item: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages = [message, {"role": "user", "content": "Go on."}]
    code = prepared(tmp_path, messages, "--provider", "openai", "--protocol", "responses", "--format", "json")
    printed = json.loads(capsys.readouterr().out)
    assert noted == {note["pointer"]: note["fixed"] for note in printed["notes"]}
    assert {"type": "message", **item} == printed["request"]["input"][0]
    assert code == (False in noted.values())


def test_an_error_flag_of_a_result_is_named_and_a_custom_call_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    openai = ("--provider", "openai", "--protocol", "responses")
    failed = [{"role": "user", "content": "Hi"}, thinking(**OWN), {**RESULT, "is_error": True}]
    assert 0 == prepared(tmp_path, failed, *openai)
    assert "note: /2/is_error: " in capsys.readouterr().err
    custom = {"id": "call_1", "type": "custom", "custom": {"name": "f", "input": "x"}}
    assert 2 == prepared(tmp_path, [{"role": "assistant", "content": None, "tool_calls": [custom]}], *openai)
    assert 'at /0/tool_calls/0/type: expected "function", got "custom"' in capsys.readouterr().err


@pytest.mark.parametrize("wire", NATIVE)
def test_what_is_said_arrives_or_is_named(wire: str) -> None:
    @settings(max_examples=examples(60))
    @given(transcripts(results=RESULTS))
    def holds(transcript: list[dict[str, Any]]) -> None:
        made = egress.prepare(transcript, {})
        body = {"model": "m", "messages": made.messages}
        sent = native_request(body, made.origins, wire, ())
        arrived = set(texts(dialects.to_canonical(DIALECTS[wire], sent.body).value))
        named = {note.pointer.split("/")[1] for note in sent.notes}
        for message, origin in zip(made.messages, made.origins, strict=True):
            lost = [text for text in texts(message.get("content")) if text and text not in arrived]
            assert not lost or str(origin) in named, (message, lost)

    holds()
