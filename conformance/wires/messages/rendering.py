"""Chat completions as Messages: the requests of the suites, and the replies and streams of the simulator.

What `reasoning_details` hold becomes thinking again, before the text and the calls; a detail that is no thinking of
this wire is left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from conformance.wire.media import Media, address_of
from conformance.wire.native import NativeEvent
from conformance.wires.drafts import as_object, objects

_CHOICES: Final[Mapping[Any, str]] = {"auto": "auto", "required": "any", "none": "none"}
_REASONS: Final[Mapping[Any, str]] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}
_COPIED: Final = ("model", "max_tokens", "stream", "temperature", "top_p", "thinking", "output_config")
_LIMIT: Final = 4096
"""The token limit of a request that has none: this wire requires one."""

_PIECE: Final = 12
"""How many characters a delta holds."""


def request(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request of chat completions as one of Messages."""
    made: dict[str, Any] = {key: body[key] for key in _COPIED if key in body}
    made.setdefault("max_tokens", body.get("max_completion_tokens", _LIMIT))
    messages: list[dict[str, Any]] = []
    for _, message in objects(body.get("messages")):
        if message.get("role") in ("system", "developer") and not messages:
            made["system"] = message.get("content")
        else:
            _add(message, messages)
    made["messages"] = messages
    if tools := [_tool(as_object(tool.get("function"))) for _, tool in objects(body.get("tools"))]:
        made["tools"] = tools
    choice = _choice(body.get("tool_choice"), parallel=body.get("parallel_tool_calls"))
    return made | ({"tool_choice": choice} if choice else {})


def _choice(choice: Any, *, parallel: Any) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if type(choice) is dict:
        made = {"type": "tool", "name": as_object(choice.get("function")).get("name")}
    elif choice in _CHOICES:
        made = {"type": _CHOICES[choice]}
    if parallel is False:
        made = {"type": "auto", **made, "disable_parallel_tool_use": True}
    return made


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    made = {"name": function.get("name"), "input_schema": function.get("parameters") or {"type": "object"}}
    return made | ({"description": function["description"]} if "description" in function else {})


def _add(message: Mapping[str, Any], messages: list[dict[str, Any]]) -> None:
    """Add a message; the results of one turn, and what the user says after them, are one message."""
    role, content = message.get("role"), message.get("content")
    if role == "assistant":
        messages.append({"role": "assistant", "content": _blocks(message)})
        return
    blocks: Any = _result(message) if role == "tool" else _said(content)
    last = messages[-1] if messages else {}
    if last.get("role") == "user" and type(last.get("content")) is list and role in ("tool", "user"):
        last["content"] += blocks if type(blocks) is list else [{"type": "text", "text": blocks}]
    else:
        messages.append({"role": "user" if role == "tool" else role, "content": blocks})


def _said(content: Any) -> Any:
    """Return a content with its images as blocks; what else is no text keeps its own form."""
    return [_shown(part) for _, part in objects(content)] if type(content) is list else content


def _shown(part: Mapping[str, Any]) -> dict[str, Any]:
    address = address_of(part)
    if isinstance(address, Media):
        return {"type": "image", "source": {"type": "base64", "media_type": address.kind, "data": address.data}}
    return {"type": "image", "source": {"type": "url", "url": address}} if address else dict(part)


def _result(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    block = {"type": "tool_result", "content": _said(message.get("content"))}
    block |= {"is_error": True} if message.get("is_error") is True else {}
    return [block | ({"tool_use_id": message["tool_call_id"]} if "tool_call_id" in message else {})]


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    blocks = [made for _, detail in objects(message.get("reasoning_details")) if (made := _thinking(detail))]
    content = message.get("content")
    if type(content) is str and content:
        blocks.append({"type": "text", "text": content})
    elif type(content) is list:
        blocks += content
    return blocks + [_call(call) for _, call in objects(message.get("tool_calls"))]


def _thinking(detail: Mapping[str, Any]) -> dict[str, Any] | None:
    if detail.get("type") == "reasoning.encrypted":
        return {"type": "redacted_thinking", "data": detail.get("data")}
    if detail.get("type") != "reasoning.text":
        return None
    block = {"type": "thinking", "thinking": detail.get("text") or ""}
    return block | ({"signature": detail["signature"]} if "signature" in detail else {})


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = as_object(call.get("function"))
    try:
        given = orjson.loads(function.get("arguments") or "{}")
    except (orjson.JSONDecodeError, TypeError):
        # This wire has no arguments that are not JSON, so they go as the text that they are.
        given = function.get("arguments")
    block = {"type": "tool_use", "name": function.get("name"), "input": given}
    return block | ({"id": call["id"]} if "id" in call else {})


def reply(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reply of chat completions as one of Messages."""
    if "error" in body:
        error = as_object(body["error"])
        return {"type": "error", "error": {"type": error.get("type"), "message": error.get("message")}}
    _, choice = next(objects(body.get("choices")), (0, {}))
    reason = choice.get("finish_reason")
    return {
        "id": str(body.get("id", "")).replace("chatcmpl-", "msg_"),
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": _blocks(as_object(choice.get("message"))),
        "stop_reason": _REASONS.get(reason, reason),
        "stop_sequence": None,
        "usage": _usage(as_object(body.get("usage"))),
    }


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    cached = as_object(usage.get("prompt_tokens_details")).get("cached_tokens") or 0
    return {
        "input_tokens": usage.get("prompt_tokens", 0) - cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": usage.get("completion_tokens", 0),
    }


def events(message: Mapping[str, Any]) -> Iterator[NativeEvent]:
    """Yield the events of the stream that adds up to a message of this wire."""
    usage = as_object(message.get("usage"))
    begun = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield _event({"type": "message_start", "message": begun})
    yield _event({"type": "ping"})
    for index, block in objects(message.get("content")):
        yield from _block_events(index, block)
    ended = {key: message.get(key) for key in ("stop_reason", "stop_sequence")}
    yield _event({"type": "message_delta", "delta": ended, "usage": {"output_tokens": usage.get("output_tokens")}})
    yield _event({"type": "message_stop"})


def _block_events(index: int, block: Mapping[str, Any]) -> Iterator[NativeEvent]:
    kind = block["type"]
    begun: dict[str, Any] = {**block}
    deltas: list[dict[str, Any]] = []
    if kind == "text":
        begun["text"] = ""
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
    elif kind == "thinking":
        begun |= {"thinking": "", "signature": ""}
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])]
        deltas += [{"type": "signature_delta", "signature": block.get("signature", "")}]
    elif kind == "tool_use":
        begun["input"] = {}
        text = orjson.dumps(block["input"]).decode()
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *_pieces(text))]
    yield _event({"type": "content_block_start", "index": index, "content_block": begun})
    for delta in deltas:
        yield _event({"type": "content_block_delta", "index": index, "delta": delta})
    yield _event({"type": "content_block_stop", "index": index})


def _event(value: dict[str, Any]) -> NativeEvent:
    return NativeEvent(value["type"], value)


def _pieces(text: str) -> Sequence[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
