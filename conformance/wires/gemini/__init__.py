"""Gemini: `POST …/models/<model>:generateContent`, and `:streamGenerateContent` for streams.

Source: https://ai.google.dev/api/generate-content
"""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from conformance.wire.native import NativeEvent
from conformance.wires import Wire

NAME: Final = "gemini"
_STREAM: Final = ":streamGenerateContent"


def _path(body: Mapping[str, Any]) -> str:
    """Return the path of a request: on this wire, it names the model and whether the reply is a stream."""
    method = "streamGenerateContent?alt=sse" if body.get("stream") is True else "generateContent"
    return f"/models/{quote(str(body.get('model', '')), safe='')}:{method}"


def _is_request(body: dict[str, Any]) -> bool | None:
    if "messages" in body:
        return False
    return type(body.get("contents")) is list or None


def _is_reply(body: dict[str, Any]) -> bool:
    return type(body.get("candidates")) is list or "usageMetadata" in body or "promptFeedback" in body


def _headers(key: str) -> Mapping[str, str]:
    return {"x-goog-api-key": key} if key else {}


def _is_array(url: str) -> bool:
    return _STREAM in url and "alt=sse" not in url


def _failure(message: str) -> NativeEvent:
    return NativeEvent("", {"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}})


WIRE: Final = Wire(
    NAME,
    "Gemini",
    _path,
    re.compile(r"(?:/.+)?/models/[^/]+:(?:generateContent|streamGenerateContent)"),
    (":generateContent", _STREAM),
    _is_request,
    _is_reply,
    ('"candidates":', '"usageMetadata":'),
    _headers,
    _failure,
    ("systemInstruction", "system_instruction", "contents"),
    ("candidates",),
    _is_array,
    holds_objects=True,
)
