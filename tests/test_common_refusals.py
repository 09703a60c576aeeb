"""Requests that vendors refuse are found before they are sent, and the simulator refuses them in the vendor's words."""

from collections.abc import Sequence
from typing import Any

from conformance import Exchange, Outcome, check, wires
from tests.loops import every

HELLO = {"role": "user", "content": "Hello"}
SCHEMA = {"type": "object", "properties": {"x": {"type": "array"}}, "required": ["y"]}
MARK = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
STRICT = {"type": "function", "function": {"name": "b", "strict": True, "parameters": {"type": "object"}}}
UNION = {"type": "object", "properties": {"a": {"type": "string", "anyOf": [{"minLength": 1}, {"const": ""}]}}}
JPG: dict[str, Any] = {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "/9j/4A=="}}
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


def _checked(body: dict[str, Any], provider: str) -> Sequence[Outcome]:
    return check(Exchange.of_plain(body, model=body.get("model", "")), provider)


def _enum(kind: str, *values: Any) -> list[Any]:
    return _declared(parameters={"type": "object", "properties": {"n": {"type": kind, "enum": list(values)}}})


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
    ("openai", "maximum length 4, but got an array with length 5"): _chat(model="gpt-4o", stop=[*"abcde"]),
    ("openai", "Invalid 'messages[0].name'"): _chat(messages=[{**HELLO, "name": "John Doe"}]),
    ("openai", "'temperature' does not support 0.2 with this model"): _chat(model="o3", temperature=0.2),
    ("openai", "'temperature' does not support 0 with this model"): _chat(model="gpt-5-mini", temperature=0),
    ("openai", "'temperature' is not supported"): {"model": "gpt-5", "input": "Hello", "temperature": 0.2},
    ("openai", "only supported in v1/responses"): _chat(model="gpt-5.1-codex"),
    ("openai", "'reasoning.effort' is not supported"): {
        "model": "gpt-4o",
        "input": "Hello",
        "reasoning": {"effort": "low"},
    },
    ("github_copilot", "is not accessible via the /chat/completions endpoint"): _chat(model="gpt-5.3-codex"),
    ("xai", "does not support parameter presencePenalty"): _chat(model="grok-4", presence_penalty=0),
    ("groq", "json mode cannot be combined"): _chat(
        model="llama-3.3-70b-versatile", tools=[_function()], response_format={"type": "json_object"}
    ),
    ("vllm", "n must be 1 when using greedy sampling"): _chat(model="Qwen/Qwen3-8B", n=2, temperature=0),
    ("vllm", "temperature must be in [0, 2], got 3"): _chat(model="Qwen/Qwen3-8B", temperature=3),
    ("fireworks", "must have stream=true"): _chat(model="llama", max_tokens=8192),
    ("cerebras", "Tools with mixed values for 'strict'"): _chat(
        model="gpt-oss-120b", tools=[_function("a"), {**STRICT}]
    ),
    ("moonshot", "At path 'properties.a': when using anyOf"): _chat(
        model="kimi-k2.6", tools=[_function(parameters=UNION)]
    ),
    ("anthropic", "`temperature` and `top_p` cannot both"): _messages(temperature=0.5, top_p=0.9),
    ("anthropic", "max_tokens: 100000 > 64000"): _messages(model="claude-haiku-4-5", max_tokens=100000),
    ("gemini", "properties[0].value': Proto field is not repeating, cannot start list"): _gemini(
        tools=_declared(parameters={"type": "object", "properties": {"a": {"type": ["string", "null"]}}})
    ),
    ("gemini", "Tool use with function calling is unsupported"): {
        "model": "gemini-2.5-flash",
        **_gemini(tools=[*_declared(), {"googleSearch": {}}]),
    },
    ("anthropic", "0.image.source.base64.media_type"): _messages(
        messages=[{"role": "user", "content": [{**JPG, "source": {**JPG["source"], "media_type": "image/jpg"}}]}]
    ),
    ("anthropic", "each stop sequence must contain non-whitespace"): _messages(stop_sequences=["\n"]),
    ("anthropic", "temperature: range: 0..1"): _messages(temperature=1.5),
    ("gemini", "properties[0].value.enum[0]' (TYPE_STRING), 1"): _gemini(tools=_enum("integer", 1, 2)),
    ("gemini", "properties[n].enum: only allowed for STRING type"): _gemini(tools=_enum("integer", "1", "2")),
    ("gemini", "Cannot set 'inlineData'"): _gemini(
        {"text": "Hi", "inlineData": {"mimeType": "image/png", "data": "aGk="}}
    ),
    ("gemini", "contents[0].parts[0].data: required oneof field"): _gemini({"thought": True}),
    ("gemini", "function call turn"): {
        "contents": [{"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}]
    },
}


@every("case", REFUSED, ids=" ".join)
def test_a_common_mistake_is_refused_in_the_words_of_the_vendor(case: tuple[str, str]) -> None:
    provider, words = case
    refusals = [
        finding.refusal.message
        for outcome in _checked(REFUSED[case], provider)
        for finding in outcome.findings
        if finding.refusal is not None
    ]
    assert any(words in str(each) for each in refusals), refusals


def test_the_json_mode_is_judged_whatever_the_messages_hold() -> None:
    odd = [{"role": "user", "content": "\ud800 in JSON"}, {"role": "user", "content": "Hi", "size": 10**30}]
    asked = Exchange.of_plain(_chat(messages=odd, response_format={"type": "json_object"}))
    (outcome,) = check(asked, "openai", ["request/json-mode-says-json"])
    assert ("passed", 1) == (outcome.status.value, outcome.judged)


DISPUTED = {
    ("anthropic", 'first message must use the "user" role'): _messages(
        messages=[{"role": "assistant", "content": "Hi"}, HELLO]
    ),
    ("gemini", "empty text parameter"): _gemini({"text": ""}),
}
ACCEPTED = {
    "a temperature of reasoning models": ("openai", _chat(model="o3", temperature=1)),
    "any temperature without reasoning": ("openai", _chat(model="gpt-5.4", reasoning_effort="none", temperature=0.2)),
    "a temperature of a model that never reasons": ("openai", _chat(model="gpt-4o", temperature=0.2)),
    "four texts that stop": ("openai", _chat(model="gpt-4o", stop=[*"abcd"])),
    "a name of letters": ("openai", _chat(messages=[{**HELLO, "name": "Jörg"}])),
    "a codex model on Responses": ("openai", {"model": "gpt-5.3-codex", "input": "Hello"}),
    "many tokens in a stream": ("fireworks", _chat(model="llama", max_tokens=8192, stream=True)),
    "functions beside a search, of Gemini 3": (
        "gemini",
        {
            "model": "gemini-3.1-pro-preview",
            **_gemini(tools=[*_declared(), {"googleSearch": {}}]),
            "toolConfig": {"includeServerSideToolInvocations": True},
        },
    ),
    "an image": ("anthropic", _messages(messages=[{"role": "user", "content": [JPG]}])),
    "a long stop sequence": ("anthropic", _messages(stop_sequences=["\n\nHuman:"])),
    "a signed part without text": ("gemini", _gemini({"text": "", "thoughtSignature": "c2lnbmVk"})),
    "an enum as JSON Schema": (
        "gemini",
        _gemini(tools=_declared(parametersJsonSchema={"type": "object", "properties": {"n": {"enum": [1, 2]}}})),
    ),
}


@every("case", DISPUTED, ids=" ".join)
def test_what_sources_disagree_about_is_advice_in_the_words_of_the_vendor(case: tuple[str, str]) -> None:
    provider, words = case
    found = [
        (finding.level.value, words in str(finding.contested))
        for outcome in _checked(DISPUTED[case], provider)
        for finding in outcome.findings
    ]
    assert [("SHOULD", True)] == found


@every("case", ACCEPTED)
def test_what_is_accepted_is_not_a_finding(case: str) -> None:
    provider, body = ACCEPTED[case]
    assert [] == [finding for outcome in _checked(body, provider) for finding in outcome.findings]


@every(
    ("body", "wire"),
    [
        ({"model": "gpt-5.4", "input": "Hello"}, "responses"),
        ({"model": "o3-mini", "input": "Hello", "temperature": 1}, "responses"),
        ({"model": "qwen3", "input": "Hello", "stream": True}, "responses"),
        ({"model": "text-embedding-3-small", "input": "Hello"}, "chat"),
        ({"model": "omni-moderation-latest", "input": "Hello"}, "chat"),
        ({"model": "gpt-4o-mini-tts", "input": "Hello", "voice": "alloy", "instructions": "Be kind."}, "chat"),
        (_messages(messages=[{"role": "user", "content": [JPG]}]), "messages"),
    ],
)
def test_a_body_is_one_of_the_wire_that_its_model_or_blocks_show(body: dict[str, Any], wire: str) -> None:
    assert wire == wires.of(Exchange.of_plain(body)).name
