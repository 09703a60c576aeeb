"""Recordings that somebody edited in sums, ids, signatures or servers are found, and honest ones are not."""

import json
from typing import Any

from conformance.evidence.suspects import SuspectFinder
from conformance.wire.exchange import Exchange
from tests.loops import every

LONG = "The weather in Berlin is sunny, and it will stay so for the whole week, say all the services that I asked. " * 4
OTHER = "It rains in Rome, and nobody can say for how long, because the clouds come from the sea. " * 4
ID = "chatcmpl-CyZ8pKq0Tq1rWg7dN3vBmXhLaJ4fE"
ANTHROPIC = "https://api.anthropic.com/v1/messages"
SIGNED = "EpwGCkYICxgCKkCz2mVq8S1tXyW4uR7oPk9LdNfHbG3eJcA6iM5sT0vZrQxUwYlIhEg"


def chat(text: str = LONG, ask: str = "Hi", model: str = "gpt-5.2", **members: Any) -> Exchange:
    headers = members.pop("headers", {})
    body = {
        "id": ID,
        "object": "chat.completion",
        "created": 1_769_000_123,
        "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 97, "total_tokens": 109},
    }
    asked = {"model": model, "messages": [{"role": "user", "content": ask}]}
    return Exchange(asked, body | members, status=200, headers=headers)


def counted(prompt: int = 12, done: int = 97, total: int = 109, cached: int = 0, hidden: int = 0) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": done,
        "total_tokens": total,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": hidden},
    }


def stream(*names: str) -> Exchange:
    chunks = [
        {
            "id": name,
            "object": "chat.completion.chunk",
            "created": 1_769_000_123,
            "model": "gpt-5.2",
            "choices": [{"index": 0, "delta": {"content": f"word {number} "}, "finish_reason": None}],
        }
        for number, name in enumerate(names)
    ]
    text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    return Exchange({"model": "gpt-5.2", "stream": True, "messages": []}, text, status=200)


def claude(*before: Any, name: str = "msg_013Zva2CMHLNnXjNJJKqJ2EF", ask: str = "Hi", **usage: int) -> Exchange:
    body = {
        "id": name,
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-7",
        "content": [*before, {"type": "text", "text": LONG}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 15, "output_tokens": 103} | usage,
    }
    asked = {"model": "claude-opus-4-7", "max_tokens": 900, "messages": [{"role": "user", "content": ask}]}
    return Exchange(asked, body, status=200, url=ANTHROPIC)


def thought(signature: str) -> dict[str, str]:
    return {"type": "thinking", "thinking": "I look at it.", "signature": signature}


def response(item: str) -> Exchange:
    said = {"type": "message", "id": item, "role": "assistant", "content": [{"type": "output_text", "text": LONG}]}
    body = {
        "id": "resp_02f1e7a9c4d3b8860069689d72aa7081",
        "object": "response",
        "created_at": 1_768_463_731,
        "model": "gpt-5.2",
        "output": [said],
        "usage": {"input_tokens": 17, "output_tokens": 103, "total_tokens": 120},
    }
    return Exchange({"model": "gpt-5.2", "input": "Hi"}, body, status=200, url="https://api.openai.com/v1/responses")


def reasons(provider: str, exchanges: list[Exchange]) -> list[str]:
    finder = SuspectFinder()
    return [each.reason for number, given in enumerate(exchanges) for each in finder.add(f"#{number}", provider, given)]


@every(
    ("provider", "exchanges", "expected"),
    [
        ("openai", [chat(usage=counted(total=534))], "the total of 534 tokens is not the sum of 12 and 97"),
        ("openai", [chat(usage=counted(cached=1024))], "1,024 of 12 prompt tokens are cached"),
        ("openai", [chat(usage=counted(hidden=4096))], "4,096 of 97 completion tokens are reasoning"),
        ("groq", [chat(ask=OTHER * 4)], "12 prompt tokens do not fit 1,424 letters"),
        ("groq", [chat(), chat(OTHER)], "its id is that of #0, which says something else"),
        ("deepseek", [chat("This is a mocked response.")], "its text says that it is a mocked response"),
        ("deepseek", [chat(system_fingerprint="fp_test")], "system_fingerprint is fp_test"),
        ("openai", [chat(headers={"Server": "TornadoServer/6.4"})], "server is TornadoServer/6.4"),
        ("openai", [stream(ID, ID, f"{ID[:-1]}A", f"{ID[:-1]}A")], f"the chunks of one stream have the ids {ID} and "),
        ("anthropic.messages", [claude(name=ID)], f"the id {ID} is of another host"),
        ("anthropic.messages", [claude(thought("sig_abc123"))], "a signature is sig_abc123"),
        ("openai.responses", [response("item_1")], "the id of an item is item_1"),
    ],
)
def test_what_no_server_draws_or_counts_so_is_suspect(provider: str, exchanges: list[Exchange], expected: str) -> None:
    (reason,) = reasons(provider, exchanges)
    assert reason.startswith(expected)


@every(
    ("provider", "exchanges"),
    [
        ("openai", [chat(f"|{'-' * 900}|", usage=counted(done=19, total=31))]),
        ("xai", [chat(model="grok-4", usage=counted(total=421, hidden=312))]),
        ("openai", [chat(), chat()]),
        ("ollama", [chat(id="chatcmpl-512"), chat(OTHER, id="chatcmpl-512")]),
        ("openai", [stream(ID, ID, ID)]),
        ("avian", [stream("chatcmpl-ec08ee4b2cd84124b8f4f469", *["gen-1773932884-wGz1eX8aEKiwuYKtVVBo"] * 3)]),
        ("mistral", [chat("A mock reply is a reply that nobody sent.", ask="What is a mock reply?")]),
        ("anthropic.messages", [claude(thought(SIGNED), ask=OTHER * 40, cache_read_input_tokens=20_480)]),
        ("openai.responses", [response("msg_02f1e7a9c4d3b8860069689d739c1c8190")]),
    ],
)
def test_what_servers_do_draw_and_count_is_not(provider: str, exchanges: list[Exchange]) -> None:
    assert [] == reasons(provider, exchanges)
