"""`conformance prepare`: the messages on standard output, the notes on standard error."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main

CALL = {"id": "call_0", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TRANSCRIPT: list[dict[str, Any]] = [
    {"role": "user", "content": "Weather?", "timestamp": 1},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_0", "content": "18"},
]


def prepared(tmp_path: Path, value: Any, *arguments: str) -> int:
    path = tmp_path / "given.json"
    path.write_text(json.dumps(value), "utf-8")
    return main(["prepare", *arguments, str(path)])


def test_the_messages_and_the_notes_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == prepared(tmp_path, TRANSCRIPT, "--provider", "deepseek")
    out, err = capsys.readouterr()
    assert [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": ""},
        TRANSCRIPT[2],
    ] == json.loads(out)
    given = "empty reasoning is added: it has none, and the field is required (reasoning.omitted-on-tool-turn)"
    content = "note: /1/content: sent null: it is empty (content.empty-on-tool-turn)"
    assert ["note: /0/timestamp: left out: the wire has no such key", f"note: /1: {given}", content] == err.splitlines()


def test_the_model_of_a_body_counts_unless_another_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = {"model": "gemini-3-pro", "messages": TRANSCRIPT[1:]}
    assert 0 == prepared(tmp_path, body, "--provider", "gemini_openai_compat")
    out, err = capsys.readouterr()
    assert "skip_thought_signature_validator" in out
    assert "note: /messages/0/tool_calls/0/extra_content: " in err
    assert 0 == prepared(tmp_path, body, "--provider", "gemini_openai_compat", "--model", "gemini-2.0-flash")
    assert "skip_thought_signature_validator" not in capsys.readouterr().out


def test_what_cannot_be_fixed_gives_exit_code_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    transcript = [TRANSCRIPT[0], {"role": "assistant", "content": "18."}]
    assert 1 == prepared(tmp_path, transcript, "--provider", "mistral")
    last = capsys.readouterr().err.splitlines()[-1]
    assert "problem: /1: cannot be fixed: another message is required at the end (request.last-assistant)" == last


def test_json_has_messages_ids_and_notes_in_one_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == prepared(tmp_path, TRANSCRIPT, "--provider", "mistral", "--format", "json")
    out, err = capsys.readouterr()
    printed = json.loads(out)
    (sent,) = printed["messages"][1]["tool_calls"]
    assert "" == err
    assert [{"message": 1, "call": 0, "own": "call_0", "sent": sent["id"]}] == printed["ids"]
    assert [("/0/timestamp", True), ("/1/tool_calls/0/id", True), ("/2/tool_call_id", True)] == [
        (note["pointer"], note["fixed"]) for note in printed["notes"]
    ]


def test_standard_input_is_read_without_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(TRANSCRIPT[1:]).encode())))
    assert 0 == main(["prepare", "--provider", "openai"])
    assert TRANSCRIPT[1:] == json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, "at (root): expected an array, got 3"),
        ({"model": "x"}, "at /messages: expected an array, got null"),
        ([{"role": "user"}], 'at /0: expected the key "content"'),
        ({"messages": [{"role": "tool", "content": "18"}]}, 'at /messages/0: expected the key "tool_call_id"'),
        ([{**TRANSCRIPT[1], "tool_calls": 3}], "at /0/tool_calls: expected an array"),
    ],
)
def test_an_invalid_transcript_is_refused_with_its_pointer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], value: Any, expected: str
) -> None:
    assert 2 == prepared(tmp_path, value, "--provider", "openai")
    assert expected in capsys.readouterr().err


def test_an_unknown_provider_is_reported_with_the_nearest_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == prepared(tmp_path, TRANSCRIPT, "--provider", "mistrall")
    assert "did you mean mistral" in capsys.readouterr().err
