"""Requests that vendors refuse are found before they are sent, and the simulator refuses them in the vendor's words."""

from typing import Any

from conformance import Exchange, check
from tests.loops import every

HELLO = {"role": "user", "content": "Hello"}
SCHEMA = {"type": "object", "properties": {"x": {"type": "array"}}, "required": ["y"]}
MARK = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}


def _chat(**members: Any) -> dict[str, Any]:
    return {"model": "gpt-5.4", "messages": [HELLO], **members}


def _function(name: str = "f", parameters: Any = None) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "parameters": parameters or {"type": "object", "properties": {}}},
    }


def _messages(**members: Any) -> dict[str, Any]:
    return {"model": "claude-sonnet-4-6", "max_tokens": 4000, "messages": [HELLO], **members}


def _responses(*parts: Any, role: str = "user", **members: Any) -> dict[str, Any]:
    return {"model": "gpt-5.4", "input": [{"role": role, "content": list(parts)}], **members}


def _gemini(*parts: Any, **members: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": list(parts or [{"text": "Hello"}])}], **members}


def _declared(name: str = "f", **members: Any) -> list[Any]:
    return [{"functionDeclarations": [{"name": name, "description": "d", **members}]}]


REFUSED = {
    ("openai", "array schema missing items"): _chat(tools=[_function(parameters=SCHEMA)]),
    ("openai", "array too long"): _chat(tools=[_function(f"f{number}") for number in range(129)]),
    ("openai", "string does not match pattern"): _chat(tools=[_function("f" * 65)]),
    ("openai", "only allowed when 'tools' are specified"): _chat(parallel_tool_calls=True),
    ("openai", "only allowed when 'stream' is enabled"): _chat(stream_options={"include_usage": True}),
    ("openai", "must contain the word 'json'"): _chat(response_format={"type": "json_object"}),
    ("openai", "Invalid value: 'text'."): _responses({"type": "text", "text": "Hi"}),
    ("openai", "Invalid value: 'input_text'."): _responses({"type": "input_text", "text": "Hi"}, role="assistant"),
    ("openai", "Unknown parameter: 'response_format'."): _responses(response_format={"type": "text"}),
    ("anthropic", "Found 5."): _messages(system=[MARK] * 5),
    ("anthropic", "greater than or equal to 1024"): _messages(thinking={"type": "enabled", "budget_tokens": 512}),
    ("anthropic", "Input tag 'image_url'"): _messages(messages=[{"role": "user", "content": [IMAGE]}]),
    ("anthropic", "reasoning_effort: Extra inputs are not permitted"): _messages(reasoning_effort="high"),
    ("gemini", "properties[x].items: missing field"): _gemini(tools=_declared(parameters=SCHEMA)),
    ("gemini", "required[0]: property is not defined"): _gemini(tools=_declared(parameters=SCHEMA)),
    ("gemini", 'Unknown name "$schema"'): _gemini(tools=_declared(parameters={"$schema": "x", "type": "object"})),
    ("gemini", "Invalid function name"): _gemini(tools=_declared("get weather")),
    ("gemini", "Unknown name \"type\" at 'contents[0].parts[0]'"): _gemini({"type": "text", "text": "Hi"}),
    ("gemini", "function call turn"): {
        "contents": [{"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}]
    },
}


@every("case", REFUSED, ids=" ".join)
def test_a_common_mistake_is_refused_in_the_words_of_the_vendor(case: tuple[str, str]) -> None:
    provider, words = case
    refusals = [
        finding.refusal.message
        for outcome in check(Exchange.of_plain(REFUSED[case]), provider)
        for finding in outcome.findings
        if finding.refusal is not None
    ]
    assert any(words in str(each) for each in refusals), refusals


def test_the_json_mode_is_judged_whatever_the_messages_hold() -> None:
    odd = [{"role": "user", "content": "\ud800 in JSON"}, {"role": "user", "content": "Hi", "size": 10**30}]
    asked = Exchange.of_plain(_chat(messages=odd, response_format={"type": "json_object"}))
    (outcome,) = check(asked, "openai", ["request/json-mode-says-json"])
    assert ("passed", 1) == (outcome.status.value, outcome.judged)
