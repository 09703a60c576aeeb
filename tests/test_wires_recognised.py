"""Requests without a URL are on the wire that their bodies show; one that is only usual is said to be so."""

import json
from pathlib import Path
from typing import Any

import pytest

from conformance import wires
from conformance.cli import main
from conformance.wire.exchange import Exchange
from tests.loops import every

HI = [{"role": "user", "content": "Hi"}]
CLAUDE: dict[str, Any] = {"model": "claude-opus-4-7", "max_tokens": 64, "messages": HI}
THOUGHT = {"type": "thinking", "thinking": "I look.", "signature": "EpwG"}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def after(*blocks: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [*HI, {"role": "assistant", "content": list(blocks)}]}


@every(
    ("body", "expected"),
    [
        (CLAUDE, "messages"),
        (CLAUDE | {"thinking": {"type": "enabled", "budget_tokens": 1024}, "stream": True}, "messages"),
        (CLAUDE | {"model": "m", "tool_choice": {"type": "any"}}, "messages"),
        (CLAUDE | {"model": "m", "tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "messages"),
        (CLAUDE | {"model": "m", "output_config": {"effort": "low"}}, "messages"),
        (after(THOUGHT), "messages"),
        (after({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}), "messages"),
        (CLAUDE | {"model": "m"}, "chat"),
        (CLAUDE | {"model": "anthropic/claude-opus-4.7"}, "chat"),
        ({"model": "claude-opus-4-7", "messages": HI}, "chat"),
        (CLAUDE | {"stream_options": {"include_usage": True}}, "chat"),
        (CLAUDE | {"tools": [FUNCTION]}, "chat"),
        (CLAUDE | {"tools": [FUNCTION], "tool_choice": {"type": "tool", "name": "f"}}, "chat"),
        (CLAUDE | {"messages": [{"role": "system", "content": "Be brief."}, *HI]}, "chat"),
        (after({"type": "thinking", "thinking": [{"type": "text", "text": "I look."}]}), "chat"),
        ({"model": "gpt-5.2", "input": "Hi"}, "responses"),
        ({"model": "m", "input": [{"role": "user", "content": "Hi"}]}, "responses"),
        ({"contents": [{"parts": [{"text": "Hi"}]}]}, "gemini"),
    ],
)
def test_a_request_is_on_the_wire_that_its_body_shows(body: dict[str, Any], expected: str) -> None:
    assert expected == wires.of(Exchange(request=body)).name


def test_a_reply_and_a_provider_weigh_more_than_the_model() -> None:
    reply = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
    answered = Exchange(request=CLAUDE, response=reply)
    assert ("chat", "chat") == (wires.of(answered).name, wires.of(Exchange(request=CLAUDE), "chat").name)


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        ("auto", "read as Anthropic Messages, as is usual for this model; --provider names another"),
        ("github_copilot", ""),
    ],
)
def test_a_wire_that_is_only_usual_is_said_to_be_so(
    provider: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.json").write_text(json.dumps(CLAUDE))
    main(["check", str(tmp_path / "a.json"), "--provider", provider])
    assert (expected or "request body (chat)") in capsys.readouterr().out
