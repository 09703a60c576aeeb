"""Chat completions: `POST /v1/chat/completions`, which is also the canonical form of every other wire.

Source: https://platform.openai.com/docs/api-reference/chat
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from conformance.wire.native import CHAT, NativeEvent
from conformance.wire.values import objects
from conformance.wires import Wire

PATH: Final = "/chat/completions"


def _path(_body: Mapping[str, Any]) -> str:
    return PATH


def _is_request(body: dict[str, Any]) -> bool | None:
    return type(body.get("messages")) is list or None


def _is_reply(body: dict[str, Any]) -> bool:
    return "choices" in body


def _headers(key: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


def _failure(message: str) -> NativeEvent:
    return NativeEvent("", {"error": {"message": message, "type": "server_error", "param": None, "code": None}})


def _ended(reply: Mapping[str, Any]) -> tuple[str, Any]:
    _, choice = next(objects(reply.get("choices")), (0, {}))
    return "finish_reason", choice.get("finish_reason")


_SETTINGS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "token limit": (("max_tokens",), ("max_completion_tokens",)),
    "temperature": (("temperature",),),
    "top_p": (("top_p",),),
    "stop texts": (("stop",),),
    "reply format": (("response_format",),),
    "tool choice": (("tool_choice",),),
    "parallel switch": (("parallel_tool_calls",),),
    "effort": (
        ("reasoning_effort",),
        ("reasoning", "effort"),
        ("reasoning", "max_tokens"),
        ("reasoning", "enabled"),
        ("thinking", "budget_tokens"),
        ("thinking", "type"),
        ("enable_thinking",),
        ("chat_template_kwargs", "enable_thinking"),
    ),
}


def _settings(name: str) -> tuple[tuple[str, ...], ...]:
    return _SETTINGS.get(name, ())


WIRE: Final = Wire(
    CHAT,
    "Chat completions",
    _path,
    re.compile(PATH),
    ("/completions",),
    _is_request,
    _is_reply,
    ('"object":"chat.completion.chunk"', '"object": "chat.completion.chunk"'),
    _headers,
    _failure,
    ("messages",),
    ("choices",),
    ended=_ended,
    settings=_settings,
)
