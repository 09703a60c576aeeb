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


@every(
    ("provider", "exchange", "expected"),
    [
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
    (found,) = finder.add("other", "mistral", reply(model="pixtral-12b"))
    assert ("other", "its text is that of first, a recording of groq") == found
