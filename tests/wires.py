"""Small bodies and records that the tests of formats share."""

import json
from typing import Any

import yaml

from conformance.formats import Input, read

URL = "https://api.example.test/v1/chat/completions"
REQUEST = {"model": "m-asked", "messages": [{"role": "user", "content": "Hello"}]}
REPLY = {
    "object": "chat.completion",
    "created": 1767225600,
    "model": "m-replied",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
}
CHUNK = {
    "object": "chat.completion.chunk",
    "created": 1767225600,
    "model": "m-replied",
    "choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": None}],
}
EVENT = f"data: {json.dumps(CHUNK, separators=(',', ':'))}\n\n"
DONE = "data: [DONE]\n\n"
ERROR = {"error": {"message": "no", "type": "invalid_request_error"}}
HEADERS = {"Date": ["Thu, 01 Jan 2026 00:00:00 GMT"], "X-Twice": ["a", "b"]}
REBUILT = [
    {"role": "user", "content": "Hello"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": '{"b":1}'},
]
"""Messages as they are rebuilt from a log that holds no bodies."""
REQUEST_TEXT = json.dumps(REQUEST)
REPLY_TEXT = json.dumps(REPLY)


def one(value: Any, name: str = "file") -> Input:
    data = value if isinstance(value, bytes) else (value if isinstance(value, str) else json.dumps(value)).encode()
    (found,) = read(data, name)
    return found


def lines(*values: Any) -> bytes:
    return b"".join((value if isinstance(value, str) else json.dumps(value)).encode() + b"\n" for value in values)


def cassette(request: dict[str, Any], response: dict[str, Any], **more: Any) -> bytes:
    item = {"request": {"method": "POST", "uri": URL, **request}, "response": response, **more}
    return yaml.safe_dump({"interactions": [item], "version": 1}).encode()
