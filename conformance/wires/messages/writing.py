"""Chat completions as Messages: requests, replies and their streams.

Writing repairs nothing, so that the suites can send deviations. `hold` takes from a transcript what this wire cannot
hold, and names it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from conformance.wire.arguments import read_json
from conformance.wire.blocks import Block, blocks_of, reduced
from conformance.wire.content import AS_STRING, held_parts, joined_instructions
from conformance.wire.losses import Losses
from conformance.wire.native import OWN, Native, NativeEvent
from conformance.wire.tool_choice import AllowedTools, NamedChoice, limited_choice
from conformance.wire.values import as_object, objects
from conformance.wires.messages.blocks import CALLS, DETAILS, PARTS, thinking_block, write_call
from conformance.wires.messages.stream import assemble

_CHOICES: Final[Mapping[Any, str]] = {"auto": "auto", "required": "any", "none": "none"}
_REASONS: Final[Mapping[Any, str]] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}
_COPIED: Final = ("model", "max_tokens", "stream", "temperature", "top_p", "thinking", "output_config")
_PREFIX: Final = "chatcmpl-"
_LIMIT: Final = 4096
"""The token limit of a request that has none: this wire requires one."""

_PIECE: Final = 12
"""How many characters a delta holds."""


def request(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request of chat completions as one of Messages."""
    made: dict[str, Any] = {key: body[key] for key in _COPIED if key in body}
    made.setdefault("max_tokens", body.get("max_completion_tokens", _LIMIT))
    made |= conversation(body.get("messages"))
    limited = limited_choice(body.get("tool_choice"))
    functions = [as_object(tool.get("function")) for _, tool in objects(body.get("tools"))]
    if isinstance(limited, AllowedTools):
        # No choice of this wire names several tools: the model may call those that the request has.
        functions = [each for each in functions if each.get("name") in limited.names] or functions
    if tools := [_tool(each) for each in functions]:
        made["tools"] = tools
    choice = _choice(body.get("tool_choice"), parallel=body.get("parallel_tool_calls"))
    return made | ({"tool_choice": choice} if choice else {})


def conversation(canonical: Any) -> dict[str, Any]:
    """Return the system prompt and the messages of a request."""
    made: dict[str, Any] = {}
    messages: list[dict[str, Any]] = []
    for _, message in objects(canonical):
        if message.get("role") in ("system", "developer") and not messages:
            made["system"] = message.get("content")
        else:
            _add(message, messages)
    return made | {"messages": messages}


def hold(canonical: Sequence[Mapping[str, Any]], losses: Losses) -> list[dict[str, Any]]:
    """Return what this wire holds of a transcript's messages; the rest is noted, by its place among them."""
    held = joined_instructions(canonical, losses)
    follows = False
    for position, message in enumerate(canonical):
        role, place = message["role"], (position,)
        if role == "assistant":
            held.append(reduced(message, place, losses, DETAILS, CALLS))
        elif role == "tool":
            held.append(dict(message))
        elif role == "user":
            if "name" in message:
                losses.add((position, "name"), "a user message has no name there")
            content = held_parts(message["content"], (position, "content"), losses, PARTS)
            is_text = type(content) is list and len(content) == 1 and content[0]["type"] == "text"
            if follows and is_text:
                losses.add((position, "content"), AS_STRING)
            held.append({"role": role, "content": content})
        follows = role == "tool" if role in ("assistant", "tool", "user") else follows
    return held


def _choice(choice: Any, *, parallel: Any) -> dict[str, Any]:
    made: dict[str, Any] = {}
    limited = limited_choice(choice)
    if isinstance(limited, NamedChoice):
        made = {"type": "tool", "name": limited.name}
    elif limited is not None:
        made = {"type": _CHOICES[limited.mode]}
    elif type(choice) is str and choice in _CHOICES:
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
        messages.append({"role": "assistant", "content": message[OWN] if OWN in message else _blocks(message)})
        return
    blocks: Any = _result(message) if role == "tool" else _said(content)
    last = messages[-1] if messages else {}
    if role in ("tool", "user") and blocks and _ends_with_result(last):
        last["content"] += blocks if type(blocks) is list else [{"type": "text", "text": blocks}]
    else:
        messages.append({"role": "user" if role == "tool" else role, "content": blocks})


def _ends_with_result(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    last = content[-1] if type(content) is list and content else {}
    return message.get("role") == "user" and last.get("type") == "tool_result"


def _said(content: Any) -> Any:
    """Return a content as blocks; a part without one keeps its own form."""
    return [_shown(part) for _, part in objects(content)] if type(content) is list else content


def _shown(part: Mapping[str, Any]) -> dict[str, Any]:
    return dict(part) if part.get("type") == "text" else PARTS.written_or_kept(part)


def _result(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    block = {"type": "tool_result", "content": _said(message.get("content"))}
    block |= {"is_error": True} if message.get("is_error") is True else {}
    return [block | ({"tool_use_id": message["tool_call_id"]} if "tool_call_id" in message else {})]


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the blocks of an assistant message in their order, with its thinking as it stands."""
    found = blocks_of({**message, "reasoning_content": None})
    return [made for block in found if (made := _block(block)) is not None]


def _block(block: Block) -> dict[str, Any] | None:
    if block.kind == "text":
        return {"type": "text", "text": block.value}
    if block.kind == "call":
        return write_call(block.value)
    return thinking_block(block.value) if block.kind == "detail" else dict(block.value)


def reply(body: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reply of chat completions as one of Messages."""
    if "error" in body:
        error = as_object(body["error"])
        return {"type": "error", "error": {"type": error.get("type"), "message": error.get("message")}}
    _, choice = next(objects(body.get("choices")), (0, {}))
    reason = choice.get("finish_reason")
    return {
        "id": "".join(named(str(body.get("id", "")), asked)),
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": _blocks(as_object(choice.get("message"))),
        "stop_reason": _REASONS.get(reason, reason),
        "stop_sequence": None,
        "usage": _usage(as_object(body.get("usage"))),
    }


def named(identity: str, _asked: Mapping[str, Any]) -> tuple[str, str]:
    """Return the id that a reply has here, by its id in chat completions: what all begin with, and the rest."""
    rest = identity.removeprefix(_PREFIX)
    return ("", identity) if rest == identity else ("msg_", rest)


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    cached = as_object(usage.get("prompt_tokens_details")).get("cached_tokens") or 0
    return {
        "input_tokens": usage.get("prompt_tokens", 0) - cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": usage.get("completion_tokens", 0),
    }


def own(native: Native) -> Any:
    """Return the content of a reply; the input of a streamed block is the value of its JSON, or its text if it is cut.

    None if there is no reply.
    """
    content = as_object(native.reply).get("content")
    inputs = assemble(native.response).inputs if type(native.response) is str else {}
    if not inputs or type(content) is not list:
        return content
    return [
        {**block, "input": _input(inputs[position])} if inputs.get(position) else block
        for position, block in enumerate(content)
    ]


def _input(written: str) -> Any:
    try:
        return read_json(written)
    except (ValueError, RecursionError):
        return written


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
