"""Recordings that somebody edited are found: tokens, members, times and texts that cannot be the host's own."""

from typing import Any

from conformance.evidence.suspects import SuspectFinder
from conformance.wire.exchange import Exchange
from tests.loops import every

LONG = "The weather in Berlin is sunny, and it will stay so for the whole week, say all the services that I asked. " * 4


def reply(text: str = LONG, tokens: int = 100, model: str = "made-1", **members: Any) -> Exchange:
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_769_000_123,
        "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": tokens + 10},
    }
    return Exchange({"model": model, "messages": [{"role": "user", "content": "Hi"}]}, body | members, status=200)


def called(name: str) -> Exchange:
    call = {"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return reply(choices=[{"index": 0, "message": message, "finish_reason": "tool_calls"}])


def anthropic(text: str = LONG, tokens: int = 103, name: str = "msg_013Zva2CMHLNnXjNJJKqJ2EF") -> Exchange:
    body = {
        "id": name,
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-7",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 15, "output_tokens": tokens},
    }
    return native("https://api.anthropic.com/v1/messages", {"model": "claude-opus-4-7", "messages": []}, body)


def responses(
    name: str = "resp_02f1e7a9c4d3b8860069689d72aa7081", created: int = 1_768_463_731, **usage: int
) -> Exchange:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": LONG}]}
    counts = {"input_tokens": 17, "output_tokens": 103} | usage
    body = {
        "id": name,
        "object": "response",
        "created_at": created,
        "model": "gpt-5.2",
        "output": [said],
        "usage": counts,
    }
    return native("https://api.openai.com/v1/responses", {"model": "gpt-5.2", "input": "Hi"}, body)


def gemini(name: str = "uxjHaPvCN5iAxs0P4vfdQA", tokens: int = 103) -> Exchange:
    body = {
        "candidates": [{"content": {"role": "model", "parts": [{"text": LONG}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": tokens, "totalTokenCount": tokens + 9},
        "responseId": name,
    }
    asked = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    return native("https://generativelanguage.googleapis.com/v1beta/models/gemini-3-flash:generateContent", asked, body)


def native(url: str, asked: dict[str, Any], body: dict[str, Any]) -> Exchange:
    return Exchange(request=asked, response=body, status=200, url=url)


@every(
    ("provider", "exchange", "expected"),
    [
        ("anthropic.messages", anthropic(), []),
        ("anthropic.messages", anthropic(tokens=3), ["3 completion tokens do not fit 427 letters"]),
        ("anthropic.messages", anthropic(name="msg_123"), ["the id is msg_123"]),
        ("anthropic.messages", anthropic(name="msg_01A2B3C4D5E6F7"), ["the id is msg_01A2B3C4D5E6F7"]),
        ("openai.responses", responses(), []),
        ("openai.responses", responses(created=1_771_009_000), []),
        (
            "openai.responses",
            responses(created=1_771_009_000, input_tokens=200, output_tokens=120),
            ["created is 1771009000, and the tokens are round"],
        ),
        ("openai.responses", responses("resp_0f1a2b3c4d5e6f7a8b9c"), ["the id is resp_0f1a2b3c4d5e6f7a8b9c"]),
        ("openai.responses", responses(output_tokens=2), ["2 completion tokens do not fit 427 letters"]),
        ("gemini.gemini", gemini(), []),
        ("gemini.gemini", gemini(tokens=2), ["2 completion tokens do not fit 427 letters"]),
        ("gemini.gemini", gemini("abc123"), ["the id is abc123"]),
        ("openai", reply(model="gpt-4o"), []),
        (
            "openai",
            Exchange({"model": "gpt-3.5-turbo", "messages": []}, reply(model="gpt-4-vision").response, status=200),
            ["the reply is of gpt-4-vision, and gpt-3.5-turbo was asked for"],
        ),
        ("mistral", reply(usage={"prompt_tokens": 100, "completion_tokens": 200}), ["the tokens are hundreds"]),
        ("groq", reply(), []),
        ("groq", reply(tokens=9), ["9 completion tokens do not fit 427 letters"]),
        ("groq", reply("Yes.", 1), []),
        ("groq", reply(x_groq={"id": "req_1"}), []),
        ("mistral", reply(x_groq={"id": "req_1"}), ["x_groq is a member of groq"]),
        ("openrouter", reply(x_groq={"id": "req_1"}), []),
        ("mistral", reply(created=1_700_000_000), ["created is 1700000000"]),
        ("mistral", reply(created=1_234_567_890), ["created is 1234567890"]),
        ("mistral", reply(created=0), []),
        ("mistral", reply(created=1_000_000_001), ["created is 1000000001"]),
        ("mistral", reply(nvext={"worker": 1}), ["nvext is a member of nvidia"]),
        (
            "deepseek",
            reply(usage={"completion_tokens": 99, "cost_in_usd_ticks": 5}),
            ["cost_in_usd_ticks is a member of xai"],
        ),
        ("mistral", reply(usage={"prompt_cache_hit_tokens": 5}), ["prompt_cache_hit_tokens is a member of deepseek"]),
        ("siliconflow", reply(usage={"prompt_cache_hit_tokens": 5}), []),
        ("openai", reply(system_fingerprint="fp_ollama"), ["system_fingerprint fp_ollama is of ollama"]),
        ("ollama_cloud", reply(system_fingerprint="fp_ollama"), []),
        ("together", reply(id="gen-1758647753-Odmjx"), ["id gen-1758647753-Odmjx is of openrouter"]),
        ("together", reply(id="chatcmpl-123"), ["the id is chatcmpl-123"]),
        ("together", reply(id="chatcmpl-abc123def456"), []),
        ("together", reply(choices="none"), []),
        ("openai", called("call_12345xyz"), ["the id of a call is call_12345xyz"]),
        ("openai", called("call_DA9IQQ5D4VQYL6AOoVPUb3Kg"), []),
        ("xai", reply(tokens=20, usage={"completion_tokens": 9, "reasoning_tokens": 200}), []),
    ],
)
def test_a_reply_that_cannot_be_the_hosts_own_is_suspect(
    provider: str, exchange: Exchange, expected: list[str]
) -> None:
    assert expected == [each.reason for each in SuspectFinder().add("a", provider, exchange)]


def test_the_text_of_another_hosts_recording_is_suspect_unless_the_model_may_be_the_same() -> None:
    finder = SuspectFinder()
    assert [] == list(finder.add("first", "groq", reply(model="llama-4-scout")))
    assert [] == list(finder.add("again", "groq", reply(model="llama-4-scout")))
    assert [] == list(finder.add("same model", "together", reply(model="meta/Llama-4-Scout-17B")))
    assert [] == list(finder.add("data", "groq", reply('{"title": "Mistborn"}' + LONG)))
    assert [] == list(
        finder.add("the same data", "mistral", reply('{"title": "Mistborn"}' + LONG, model="pixtral-12b"))
    )
    (found,) = finder.add("other", "mistral", reply(model="pixtral-12b"))
    assert ("other", "its text is that of first, a recording of groq") == found
