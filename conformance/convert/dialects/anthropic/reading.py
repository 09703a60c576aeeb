"""From Anthropic's messages and event streams to the transcript."""

from typing import Any, Final

from conformance.convert.dialects.anthropic.blocks import READ_CALLS, READ_DETAILS, READ_PARTS
from conformance.documents import parse_json
from conformance.documents.pointer import Place
from conformance.errors import InvalidDocument
from conformance.wire import sse
from conformance.wire.arguments import decode
from conformance.wire.blocks import Block, message_of, note_moved_texts
from conformance.wire.content import AS_STRING, EMPTY_SYSTEM, EMPTY_TEXT
from conformance.wire.losses import Converted, Losses

_THINKING: Final = ("thinking", "redacted_thinking")
_TEXTS: Final = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def transcript(native: dict[str, Any]) -> Converted:
    """Return the transcript of a request or a reply; empty for any other body."""
    losses = Losses()
    is_reply = native.get("role") == "assistant" and "content" in native
    held = ("system", "messages") if "messages" in native else ("role", "content") if is_reply else ()
    for key in native:
        if key not in held:
            losses.add((key,), "a transcript holds only messages")
    found: list[dict[str, Any]] = []
    if is_reply:
        found.append(_assistant(native["content"], ("content",), losses))
    elif "messages" in native:
        system = _system(native.get("system"), losses)
        found += system
        for position, message in enumerate(native["messages"]):
            _read(message, ("messages", position), found, losses)
        if system and any(message["role"] == "system" for message in found[1:]):
            losses.add(("system",), "comes back joined with later instructions")
    return losses.converted(found)


def _system(system: Any, losses: Losses) -> list[dict[str, Any]]:
    content = system if isinstance(system, str) else _parts(system or [], ("system",), losses)
    if not content:
        if system is not None:
            losses.add(("system",), EMPTY_SYSTEM)
        return []
    return [{"role": "system", "content": content}]


def _read(message: dict[str, Any], place: Place, found: list[dict[str, Any]], losses: Losses) -> None:
    """Add the messages of the wire for one message: of a user's, its tool results come first."""
    for key in message:
        if key not in ("role", "content"):
            losses.add((*place, key), "the wire has no such field")
    if message["role"] == "assistant":
        found.append(_assistant(message["content"], (*place, "content"), losses))
        return
    if message["role"] == "system":
        _instruct(message["content"], place, found, losses)
        return
    user = _user(message["content"], (*place, "content"), losses)
    if found and found[-1]["role"] == "tool" and (user[0]["role"] == "tool" or user[0]["content"]):
        losses.add(place, "comes back in one message with the tool results before it")
    found += user


def _instruct(content: str | list[dict[str, Any]], place: Place, found: list[dict[str, Any]], losses: Losses) -> None:
    """Add instructions that stand among the messages; they come back in front of them."""
    losses.add(place, "comes back in the system prompt")
    text: Any = content
    if not isinstance(content, str):
        text = [{"type": "text", "text": block["text"]} for block in content if block["type"] == "text"]
    if text:
        found.append({"role": "system", "content": text})


def _assistant(content: str | list[dict[str, Any]], place: Place, losses: Losses) -> dict[str, Any]:
    if isinstance(content, str):
        losses.add(place, "comes back as a block")
        content = [{"type": "text", "text": content}] if content else []
    blocks, places = [], []
    for number, block in enumerate(content):
        at = (*place, number)
        made = _block(block, at, losses)
        if made is not None:
            blocks.append(made)
            places.append(at)
    note_moved_texts(blocks, places, losses)
    return message_of(blocks)


def _block(block: dict[str, Any], place: Place, losses: Losses) -> Block | None:
    """Return an assistant's block for a message of the wire; None if the wire has no counterpart."""
    if block["type"] == "text" and block["text"]:
        READ_PARTS.convert(block, place, losses)
        return Block("text", block["text"])
    if block["type"] == "tool_use":
        return Block("call", READ_CALLS.convert(block, place, losses))
    if block["type"] == "thinking" and block.get("signature") is None:
        losses.add(place, "does not come back without a signature")
        return Block("detail", {"type": "reasoning.text", "text": block["thinking"]})
    if block["type"] in _THINKING:
        return Block("detail", READ_DETAILS.convert(block, place, losses))
    losses.add(place, EMPTY_TEXT if block["type"] == "text" else "a tool that Anthropic runs is not a tool call")
    return None


def _user(content: str | list[dict[str, Any]], place: Place, losses: Losses) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"role": "user", "content": content}]
    answers = [number for number, block in enumerate(content) if block["type"] == "tool_result"]
    results = [_result(content[number], (*place, number), losses) for number in answers]
    for number in range(max(answers, default=-1)):
        if number not in answers:
            losses.add((*place, number), "on the wire, tool results come first")
    parts = _parts(content, place, losses)
    if not content:
        losses.add(place, AS_STRING)
    if results and not parts:
        return results
    is_text = not parts or (results and len(parts) == 1 and parts[0]["type"] == "text")
    joined = "".join(part["text"] for part in parts) if is_text else parts
    return [*results, {"role": "user", "content": joined}]


def _parts(content: list[dict[str, Any]], place: Place, losses: Losses) -> list[dict[str, Any]]:
    """Return the content parts of some blocks, without the tool results."""
    parts = []
    for number, block in enumerate(content):
        if block["type"] == "text" and not block["text"]:
            losses.add((*place, number), EMPTY_TEXT)
        elif block["type"] != "tool_result":
            part = READ_PARTS.convert(block, (*place, number), losses)
            if part is not None:
                parts.append(part)
    return parts


def _result(block: dict[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    for key, value in block.items():
        if key not in ("type", "tool_use_id", "content") and value is not None:
            losses.add((*place, key), "a tool result on the wire has only an id and text")
    content = block.get("content") or ""
    if not isinstance(content, str):
        content = _texts(content, (*place, "content"), losses) or ""
    if not content and block.get("content") is not None:
        losses.add((*place, "content"), "an empty tool result comes back without content")
    return {"role": "tool", "tool_call_id": block["tool_use_id"], "content": content}


def _texts(content: list[dict[str, Any]], place: Place, losses: Losses) -> list[dict[str, Any]]:
    """Return the text parts of a tool result."""
    parts = []
    for number, part in enumerate(content):
        if part["type"] != "text":
            losses.add((*place, number), "a tool result on the wire is text")
        elif (text := READ_PARTS.convert(part, (*place, number), losses)) is not None:
            parts.append(text)
    return parts


def assembled(text: str) -> dict[str, Any]:
    """Return the reply of an event stream, or the error that ends it; an empty object if it has neither.

    Arguments that were cut off are read as far as possible. Raises InvalidDocument if the data of an event is not
    JSON, or the text is not an event stream.
    """
    reply: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, str] = {}
    reading = sse.read(text)
    if not reading.data and text.strip():
        raise InvalidDocument("expected events, got text without any", "<stream>")
    for data in reading.data:
        event = parse_json(data, "<stream>")
        if not isinstance(event, dict):
            continue
        index = event.get("index")
        match event.get("type"), index:
            case "error", _:
                return event
            case "message_start", _:
                reply |= _object(event, "message")
            case "content_block_start", int():
                blocks[index] = dict(_object(event, "content_block"))
            case "content_block_delta", int() if index in blocks:
                _extend(blocks[index], _object(event, "delta"), inputs, index)
            case "message_delta", _:
                usage = {**_object(reply, "usage"), **_object(event, "usage")}
                reply |= {**_object(event, "delta"), "usage": usage}
    for index, arguments in inputs.items():
        blocks[index]["input"] = decode(arguments)
    return {**reply, "content": [blocks[index] for index in sorted(blocks)]} if reply else {}


def _object(event: dict[str, Any], key: str) -> dict[str, Any]:
    value = event.get(key)
    return value if isinstance(value, dict) else {}


def _extend(block: dict[str, Any], delta: dict[str, Any], inputs: dict[int, str], index: int) -> None:
    """Add one delta to the block that it belongs to."""
    match delta:
        case {"type": "input_json_delta", "partial_json": str(fragment)} if fragment:
            inputs[index] = inputs.get(index, "") + fragment
        case {"type": "citations_delta", "citation": citation}:
            known = block.get("citations")
            block["citations"] = [*(known if isinstance(known, list) else ()), citation]
        case {"type": str(kind)} if kind in _TEXTS and isinstance(delta.get(_TEXTS[kind]), str):
            known = block.get(_TEXTS[kind])
            block[_TEXTS[kind]] = (known if isinstance(known, str) else "") + delta[_TEXTS[kind]]
