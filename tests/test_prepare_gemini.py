"""`conformance prepare --protocol gemini`: what the wire cannot hold is named with its place, and nothing else sent."""

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.convert import dialects
from conformance.convert.native import native_request

CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"city":"Oslo"}'}}
SIGNED = {**CALL, "extra_content": {"google": {"thought_signature": "c2ln"}}}
CALLED = {"functionCall": {"id": "call_1", "name": "f", "args": {"city": "Oslo"}}, "thoughtSignature": "c2ln"}
ASKED = {"role": "user", "content": "Weather?"}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "9"}
FILE = {"type": "file", "file": {"file_id": "file-1"}}
BRIEF = {"role": "developer", "content": "Be brief."}
TEXT = {"type": "text", "text": "What is this?"}
SHOWN = {"type": "image_url", "image_url": {"url": "https://example.org/cat"}}
THOUGHT = {"type": "reasoning.text", "text": "Look.", "signature": "Zm9yZWlnbg==", "format": "anthropic-claude-v1"}
REDACTED = {"type": "reasoning.encrypted", "data": "Zm9yZWlnbg==", "format": "anthropic-claude-v1"}
BLOB = {"type": "reasoning.encrypted", "data": "Zm9yZWlnbg==", "format": "openai-responses-v1", "id": "rs_1"}


def turn(call: dict[str, Any] = SIGNED, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": [call], **more}


def with_arguments(text: str) -> dict[str, Any]:
    return {**SIGNED, "function": {"name": "f", "arguments": text}}


CASES: dict[str, tuple[list[dict[str, Any]], list[str], list[str]]] = {
    "signed by another model": ([ASKED, turn(reasoning_details=[THOUGHT]), RESULT], ["/1/reasoning_details"], []),
    "redacted": ([ASKED, turn(reasoning_details=[REDACTED]), RESULT], ["/1/reasoning_details"], []),
    "encrypted by another model": ([ASKED, turn(reasoning_details=[BLOB]), RESULT], ["/1/reasoning_details"], []),
    "image at a URL without a type": ([{**ASKED, "content": [TEXT, SHOWN]}], [], ["/0/content/1"]),
    "unknown part": ([{**ASKED, "content": [TEXT, FILE]}], [], ["/0/content/1"]),
    "name of a user": ([{**ASKED, "name": "ada"}], ["/0/name"], []),
    "developer after the first message": ([ASKED, BRIEF, ASKED], ["/1/role", "/1"], []),
    "result without a call": ([ASKED, RESULT], ["/1"], []),
    "arguments that are a list": (
        [ASKED, turn(with_arguments("[1]")), RESULT],
        ["/1/tool_calls/0/function/arguments"],
        ["/contents/1/parts/0/functionCall/args"],
    ),
    "arguments that were cut": (
        [ASKED, turn(with_arguments('{"city": "Os')), RESULT],
        ["/1/tool_calls/0/function/arguments"],
        ["/contents/1/parts/0/functionCall/args"],
    ),
    "is_error": ([ASKED, turn(), {**RESULT, "is_error": True}], ["/2/is_error"], []),
    "refusal": ([ASKED, {"role": "assistant", "content": None, "refusal": "No."}, ASKED], ["/1/refusal"], []),
}  # fmt: skip
"""A transcript each, with the places of the notes and of the problems."""


@pytest.mark.parametrize("name", CASES)
def test_what_the_wire_cannot_hold_is_named(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    messages, notes, problems = CASES[name]
    path = tmp_path / "transcript.json"
    path.write_text(json.dumps(messages), "utf-8")
    model = ("--model", "gemini-3-pro-preview", "--format", "json")
    code = main(["prepare", "--provider", "gemini", "--protocol", "gemini", *model, str(path)])
    printed = json.loads(capsys.readouterr().out)
    assert notes == [note["pointer"] for note in printed["notes"] if note["fixed"]]
    assert problems == [note["pointer"] for note in printed["notes"] if not note["fixed"]]
    assert (1 if problems else 0) == code
    sent = json.dumps(printed["request"])
    for held in ("Zm9yZWlnbg==", "rs_1", "Look.", "file-1", "example.org", "ada", "is_error", "refusal"):
        assert held not in sent
    assert "unknown_function" not in sent


@pytest.mark.parametrize("foreign", [THOUGHT, REDACTED, BLOB])
def test_reasoning_of_another_model_is_dropped_and_named_where_the_provider_reads_reasoning(
    foreign: dict[str, Any],
) -> None:
    sent = native_request({"messages": [ASKED, turn(reasoning_details=[foreign]), RESULT]}, (0, 1, 2), "gemini")
    assert [CALLED] == sent.body["contents"][1]["parts"]
    (note,) = sent.notes
    assert ("/messages/1/reasoning_details/0", True) == (note.pointer, note.fixed)
    assert "another model's reasoning, which Gemini cannot verify" == note.reason


def test_results_of_calls_without_ids_in_another_order_are_named() -> None:
    calls = [{**SIGNED, "id": "turn-0.0"}, {**CALL, "id": "turn-0.1"}]
    results = [{**RESULT, "tool_call_id": "turn-0.1"}, {**RESULT, "tool_call_id": "turn-0.0"}]
    made = dialects.from_canonical("gemini", [{"role": "assistant", "content": "", "tool_calls": calls}, *results])
    assert ["/1/tool_call_id", "/2/tool_call_id"] == [loss.pointer for loss in made.lost]
    in_order = dialects.from_canonical(
        "gemini", [{"role": "assistant", "content": "", "tool_calls": calls}, *results[::-1]]
    )
    assert () == in_order.lost
    assert all("id" not in part["functionResponse"] for part in in_order.value["contents"][1]["parts"])


def test_an_id_that_says_another_place_is_named_with_that_of_its_result() -> None:
    call = {**CALL, "id": "turn-7.1"}
    made = dialects.from_canonical("gemini", [turn(call), {**RESULT, "tool_call_id": "turn-7.1"}])
    assert ["/0/tool_calls/0/id", "/1/tool_call_id"] == [loss.pointer for loss in made.lost]
    again = dialects.to_canonical("gemini", made.value)
    assert ("turn-0.0", ()) == (again.value[1]["tool_call_id"], again.lost)
