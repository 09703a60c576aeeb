"""Anthropic Messages: `POST /v1/messages`.

Source: https://platform.claude.com/docs/en/api/messages
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.wire.native import NativeEvent
from conformance.wires import Wire

NAME: Final = "messages"
_OWN_KEYS: Final = frozenset({"anthropic_version", "anthropic_beta", "system", "stop_sequences", "mcp_servers"})
_OWN_BLOCKS: Final = frozenset({"tool_use", "tool_result", "redacted_thinking", "server_tool_use"})
_MEDIA: Final = ("image", "document")
"""Blocks that Messages alone has if they have a `source`."""
_EVENTS: Final[Mapping[str, frozenset[str]]] = {
    "message_start": frozenset({"message"}),
    "content_block_start": frozenset({"index", "content_block"}),
    "content_block_delta": frozenset({"index", "delta"}),
    "content_block_stop": frozenset({"index"}),
    "message_delta": frozenset({"delta"}),
    "message_stop": frozenset(),
    "ping": frozenset(),
}
"""The events of a stream, each with the members that it has."""
_CHAT_KEYS: Final = frozenset({"tool_calls", "tool_call_id", "reasoning_content", "reasoning", "reasoning_details"})


def _path(_body: Mapping[str, Any]) -> str:
    return "/messages"


def _is_request(body: dict[str, Any]) -> bool | None:
    """Return whether a body has a key, a block or a tool that only Messages has, and nothing of chat completions.

    None if it has nothing of either: then only the reply shows which it is.
    """
    messages = body.get("messages")
    if type(messages) is not list:
        return None if messages is None else False
    is_own = not _OWN_KEYS.isdisjoint(body) or _has_own_tools(body.get("tools"))
    for message in messages:
        if type(message) is not dict:
            continue
        if message.get("role") == "tool" or not _CHAT_KEYS.isdisjoint(message):
            return False
        is_own = is_own or (type(message.get("content")) is list and _is_own(message["content"]))
    return is_own or None


def _has_own_tools(tools: Any) -> bool:
    return type(tools) is list and bool(tools) and type(tools[0]) is dict and "input_schema" in tools[0]


def _is_own(content: list[Any]) -> bool:
    return any([_is_own_block(each) for each in content if type(each) is dict])


def _is_own_block(block: dict[str, Any]) -> bool:
    kind = block.get("type")
    return type(kind) is str and (kind in _OWN_BLOCKS or (kind in _MEDIA and type(block.get("source")) is dict))


def _is_reply(body: dict[str, Any]) -> bool:
    return (body.get("type") == "message" and "content" in body) or (
        body.get("type") == "error" and type(body.get("error")) is dict
    )


def _event(value: Mapping[str, Any]) -> str:
    kind = value.get("type")
    needed = _EVENTS.get(kind) if type(kind) is str else None
    return str(kind) if needed is not None and needed <= value.keys() else ""


def _headers(key: str) -> Mapping[str, str]:
    return {"anthropic-version": "2023-06-01"} | ({"x-api-key": key} if key else {})


def _failure(message: str) -> NativeEvent:
    return NativeEvent("error", {"type": "error", "error": {"type": "api_error", "message": message}})


def _ended(reply: Mapping[str, Any]) -> tuple[str, Any]:
    return "stop_reason", reply.get("stop_reason")


_SETTINGS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "token limit": (("max_tokens",),),
    "temperature": (("temperature",),),
    "top_p": (("top_p",),),
    "stop texts": (("stop_sequences",),),
    "reply format": (("output_config", "format"), ("output_format",)),
    "tool choice": (("tool_choice",),),
    "parallel switch": (("tool_choice", "disable_parallel_tool_use"),),
    "effort": (("output_config", "effort"), ("thinking", "budget_tokens"), ("thinking", "type")),
}


def _settings(name: str) -> tuple[tuple[str, ...], ...]:
    return _SETTINGS.get(name, ())


def _described(name: str, _owner: str) -> dict[str, Any]:
    """Return a model as https://platform.claude.com/docs/en/api/models/list has it."""
    return {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}


def _listed(names: Sequence[str], owner: str) -> dict[str, Any]:
    ends = {"first_id": names[0] if names else None, "last_id": names[-1] if names else None}
    return {"data": [_described(name, owner) for name in names], "has_more": False, **ends}


def _asks(_path: str, headers: Mapping[str, str]) -> bool:
    return "anthropic-version" in headers


WIRE: Final = Wire(
    NAME,
    "Anthropic Messages",
    _path,
    re.compile("/messages"),
    ("/v1/messages", "/anthropic.claude", ".anthropic.claude", "/publishers/anthropic/"),
    _is_request,
    _is_reply,
    ("event: message_start", '"type":"message_start"', '"type": "message_start"'),
    _headers,
    _failure,
    ("system", "messages"),
    ("role", "content"),
    holds_objects=True,
    ended=_ended,
    settings=_settings,
    event=_event,
    # https://platform.claude.com/docs/en/api/messages/count_tokens
    counting=re.compile("/messages/count_tokens"),
    counted=lambda number: {"input_tokens": number},
    listed=_listed,
    described=_described,
    asks=_asks,
)
