"""Anthropic Messages: `POST /v1/messages`.

Source: https://platform.claude.com/docs/en/api/messages
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.wire.native import NativeEvent
from conformance.wires import Wire

NAME: Final = "messages"
_OWN_KEYS: Final = frozenset(
    {
        "anthropic_beta",
        "anthropic_version",
        "container",
        "context_management",
        "inference_geo",
        "mcp_servers",
        "output_config",
        "output_format",
        "stop_sequences",
        "system",
    }
)
_OWN_BLOCKS: Final = re.compile(r"tool_use|redacted_thinking|server_tool_use|mcp_tool_use|\w*tool_result|search_result")
_OWN_CHOICES: Final = frozenset({"auto", "any", "tool", "none"})
"""Types of a tool choice that is an object; on chat completions, such words are not in one."""
_SERVER_TOOL: Final = re.compile(r"\w+_20\d{6}")
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
_ROLES: Final = ("user", "assistant")
_USUAL: Final = frozenset(
    {"model", "messages", "max_tokens", "stream", "temperature", "top_p", "top_k", "thinking", "metadata"}
)
"""The parameters of a request that has nothing of its own, but the model; others are those of chat completions."""


def _path(_body: Mapping[str, Any]) -> str:
    return "/messages"


def _is_request(body: dict[str, Any]) -> bool | None:
    """Return whether a body has a key, a block or a tool that only Messages has, and nothing of chat completions.

    None if it has nothing of either: then only the reply shows which it is.
    """
    messages = body.get("messages")
    if type(messages) is not list:
        return None if messages is None else False
    is_own = not _OWN_KEYS.isdisjoint(body) or _has_own_tools(body)
    for message in messages:
        if type(message) is not dict:
            continue
        role, content = message.get("role"), message.get("content")
        # A long chat is looked through for each of its requests; a role and a text say nothing about its wire.
        if len(message) == 2 and type(content) is str and role not in (None, "tool"):
            continue
        if role == "tool" or not _CHAT_KEYS.isdisjoint(message):
            return False
        is_own = is_own or (type(content) is list and _is_own(content))
    return is_own or None


def _is_usual(body: dict[str, Any]) -> bool:
    """Return whether a body has what each request of Messages has, for a model that Anthropic names so."""
    model, messages = body.get("model"), body.get("messages")
    if not (type(model) is str and model.startswith("claude-") and type(body.get("max_tokens")) is int):
        return False
    return body.keys() <= _USUAL and type(messages) is list and bool(messages) and all(map(_may_be_own, messages))


def _may_be_own(message: Any) -> bool:
    return type(message) is dict and message.keys() <= {"role", "content"} and message.get("role") in _ROLES


def _has_own_tools(body: dict[str, Any]) -> bool:
    choice, tools = body.get("tool_choice"), body.get("tools")
    declared = [each for each in tools if type(each) is dict] if type(tools) is list else []
    if any(["function" in each for each in declared]):
        # A choice of Messages beside functions is a mistake of its client.
        return False
    is_own_choice = type(choice) is dict and choice.get("type") in _OWN_CHOICES
    return is_own_choice or any(map(_is_own_tool, declared))


def _is_own_tool(tool: dict[str, Any]) -> bool:
    kind = tool.get("type")
    return "input_schema" in tool or (type(kind) is str and _SERVER_TOOL.fullmatch(kind) is not None)


def _is_own(content: list[Any]) -> bool:
    return any([_is_own_block(each) for each in content if type(each) is dict])


def _is_own_block(block: dict[str, Any]) -> bool:
    kind = block.get("type")
    if type(kind) is not str:
        return False
    if kind == "thinking":
        # Mistral's parts of chat completions hold a list there.
        return type(block.get("thinking")) is str
    return _OWN_BLOCKS.fullmatch(kind) is not None or (kind in _MEDIA and type(block.get("source")) is dict)


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
    is_usual=_is_usual,
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
