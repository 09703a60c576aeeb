"""Secrets that a hostile provider sends back, and the forms in which it does."""

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote, unquote

KEY: Final = 'pk-7f/3a+"9é_0123456789abcdefXYZ'
"""A key with every character that an encoding changes; the others of a real one are letters, digits and hyphens."""

ENCODINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "plain": str,
    "JSON": lambda key: json.dumps(key)[1:-1],
    "JSON without ASCII": lambda key: json.dumps(key, ensure_ascii=False)[1:-1],
    "JSON twice": lambda key: json.dumps(json.dumps(key)[1:-1])[1:-1],
    "JSON, every character": lambda key: "".join([f"\\u{ord(each):04X}" for each in key]),
    "JSON, slashes": lambda key: json.dumps(key)[1:-1].replace("/", "\\/"),
    "JSON, some characters": lambda key: f"\\u{ord(key[0]):04x}{json.dumps(key[1:])[1:-1]}",
    "URL": quote,
    "URL, every character": lambda key: "".join([f"%{each:02x}" for each in key.encode()]),
    "URL twice": lambda key: quote(quote(key, safe=""), safe=""),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 of user and key": lambda key: base64.b64encode(f"user:{key}".encode()).decode(),
    "base64 for URLs": lambda key: base64.urlsafe_b64encode(f"?>{key}<".encode()).decode(),
    "base64 in JSON": lambda key: base64.b64encode(f"??{key}".encode()).decode().replace("/", "\\/"),
}
"""How a provider may write a key."""

SHAPES: Final = {
    "OpenAI": "sk-proj-abcDEF0123456789abcDEF0123456789",
    "Anthropic": "sk-ant-api03-abcDEF0123456789_abcDEF0123456789",
    "DeepSeek": "sk-0123456789abcdef0123456789abcdef",
    "Groq": "gsk_abcDEF0123456789abcDEF0123456789",
    "Google": "AIzaSyA0123456789abcdefghijklmnopqrstu_",
    "xAI": "xai-abcDEF0123456789abcDEF0123456789",
    "Hugging Face": "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "NVIDIA": "nvapi-abcDEF0123456789-abcDEF0123456789",
    "Perplexity": "pplx-" + "abcDEF0123456789" * 3,
    "GitHub": "ghp_" + "abcDEF012345" * 3,
    "AWS": "AKIAIOSFODNN7ABCDEFG",
    "JWT": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP",
    "a header": "Bearer 0a1b2c3d4e5f60718293",
}
"""Keys that look like those of well-known hosts, which no run knows."""


@lru_cache(maxsize=16)
def decoded(text: str) -> tuple[str, ...]:
    """Return a text and what a reader may make of it: with escapes of JSON and URLs undone, once and twice."""
    found = [text]
    for _ in range(2):
        found += [unquote(found[-1])]
    escaped = text
    for _ in range(3):
        escaped = _unescaped(escaped)
        found.append(escaped)
    # Many secrets are looked for in one text, and most of its forms are the same.
    return tuple(dict.fromkeys(found))


def _unescaped(text: str) -> str:
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    return re.sub(r"\\([\"\\/])", r"\1", text)


def leaks(text: str, secret: str) -> list[str]:
    """Return the parts of a secret, of twelve characters or more, that a text or what is decoded from it holds."""
    parts = {secret[at : at + 12] for at in range(len(secret) - 11)} or {secret}
    b64 = {base64.b64encode(bytes(offset) + secret.encode())[4 : 4 + 16].decode() for offset in range(3)}
    b64 |= {each.replace("+", "-").replace("/", "_") for each in b64}
    return sorted({part for each in decoded(text) for part in parts | b64 if part in each})


def event(value: Any, dump: Callable[[Any], str] = json.dumps) -> str:
    """Return an event of a stream."""
    return f"data: {dump(value)}\n\n"


def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    """Return a chunk of a stream."""
    choice = {"index": 0, "delta": dict(delta), "finish_reason": finish}
    return {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def content(text: str) -> dict[str, Any]:
    """Return a delta of content."""
    return {"content": text}


def reasoning(text: str) -> dict[str, Any]:
    """Return a delta of reasoning."""
    return {"reasoning_content": text}


def arguments(text: str) -> dict[str, Any]:
    """Return a delta of a call's arguments."""
    return {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}


CHANNELS: Final[Mapping[str, Callable[[str], dict[str, Any]]]] = {
    "content": content,
    "reasoning": reasoning,
    "arguments": arguments,
}
"""Where in the deltas of a stream a text may be."""


def stream(pieces: Sequence[str], channel: str) -> str:
    """Return a stream whose deltas of one channel are these pieces, with deltas of the others between them."""
    other = CHANNELS["reasoning" if channel == "content" else "content"]
    events = [event(chunk({"role": "assistant", "content": ""}))]
    for piece in pieces:
        events += [event(chunk(CHANNELS[channel](piece))), event(chunk(other("…")))]
    return "".join([*events, event(chunk({}, "stop")), "data: [DONE]\n\n"])
