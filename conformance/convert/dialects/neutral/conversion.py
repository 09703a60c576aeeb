"""From a context to the transcript and back."""

from typing import Any, Final

from conformance.convert.dialects import MISCOUNTED
from conformance.convert.dialects.neutral.blocks import (
    CALLS,
    DETAILS,
    PARTS,
    READ_CALLS,
    READ_DETAILS,
    READ_PARTS,
    TEXT_SIGNATURE,
    read_detail,
    write_call,
    write_detail,
)
from conformance.convert.dialects.neutral.context import miscounts
from conformance.documents.pointer import Place
from conformance.wire.blocks import Block, blocks_of, message_of, note_moved_texts, reduced
from conformance.wire.content import AS_STRING, EMPTY_TEXT, content_of, instructions, texts_of, user_parts
from conformance.wire.losses import Converted, Losses
from conformance.wire.pairing import PendingCalls

_HELD: Final = {
    "UserMessage": ("type", "Content"),
    "AssistantMessage": ("type", "Content"),
    "ToolResultMessage": ("type", "Content", "ToolCallID", "ToolName"),
}


def transcript(context: dict[str, Any]) -> Converted:
    """Return the transcript of a valid context."""
    losses = Losses()
    if context.get("Tools"):
        losses.add(("Tools",), "a transcript holds only messages")
    found: list[dict[str, Any]] = []
    if context.get("SystemPrompt"):
        found.append({"role": "system", "content": context["SystemPrompt"]})
    names: PendingCalls[str] = PendingCalls()
    for position, message in enumerate(context["Messages"] or ()):
        place: Place = ("Messages", position)
        for key, value in message.items():
            if key not in _HELD[message["type"]] and value:
                losses.add((*place, key), "the wire has no such field")
        for inside, found_total in miscounts(message.get("Usage") or {}):
            losses.add((*place, "Usage", *inside), f"{MISCOUNTED}: {found_total}")
        at = (*place, "Content")
        if message["type"] == "AssistantMessage":
            found.append(_assistant(message, at, losses))
            names.start((call["id"], call["function"]["name"]) for call in found[-1].get("tool_calls", ()))
        elif message["type"] == "UserMessage":
            found.append({"role": "user", "content": _user_content(message, at, losses)})
        else:
            name = names.answer(message["ToolCallID"])
            if message.get("ToolName") and message["ToolName"] != name:
                losses.add((*place, "ToolName"), "a tool result on the wire has the name of its call")
            content = content_of(_result_texts(message, at, losses))
            found.append({"role": "tool", "tool_call_id": message["ToolCallID"], "content": content})
    return losses.converted(found)


def _user_content(message: dict[str, Any], place: Place, losses: Losses) -> Any:
    parts = []
    for number, block in enumerate(message["Content"] or ()):
        if block.get("text") == "":
            losses.add((*place, number), EMPTY_TEXT)
        elif (part := READ_PARTS.convert(block, (*place, number), losses)) is not None:
            parts.append(part)
    return parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts or ""


def _result_texts(message: dict[str, Any], place: Place, losses: Losses) -> list[str]:
    texts = []
    for number, block in enumerate(message["Content"] or ()):
        if block.get("text"):
            READ_PARTS.convert(block, (*place, number), losses)
            texts.append(block["text"])
        else:
            is_text = block["type"] == "TextContent"
            losses.add((*place, number), EMPTY_TEXT if is_text else "a tool result on the wire is text")
    return texts


def _assistant(message: dict[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    blocks: list[Block] = []
    for number, block in enumerate(message["Content"] or ()):
        at = (*place, number)
        if block["type"] == "TextContent":
            made = _text(block, at, blocks, losses)
        elif block["type"] == "ToolCall":
            made = [Block("call", READ_CALLS.convert(block, at, losses))]
        else:
            made = [Block("detail", READ_DETAILS.convert(block, at, losses))]
        blocks += [each._replace(place=at) for each in made]
    note_moved_texts(blocks, losses)
    return message_of(blocks)


def _text(block: dict[str, Any], place: Place, before: list[Block], losses: Losses) -> list[Block]:
    """Return a text as blocks: its signature comes before it."""
    signature = [Block("detail", read_detail(block))] if block.get("textSignature") else []
    if not block["text"]:
        if not signature:
            losses.add(place, EMPTY_TEXT)
        return signature
    if signature and any(other.kind == "call" for other in before):
        losses.add((*place, "textSignature"), "the text moves before the calls, without its signature")
        signature = []
    elif not signature and before and before[-1].kind == "detail" and before[-1].value["type"] == TEXT_SIGNATURE:
        losses.add(place, "comes back with the signature of the empty text before it")
    return [*signature, Block("text", block["text"])]


def context(canonical: list[dict[str, Any]]) -> Converted:
    """Return the context of a transcript."""
    losses = Losses()
    texts = instructions(canonical, losses)
    messages: list[dict[str, Any]] = []
    names: PendingCalls[str] = PendingCalls()
    for position, message in enumerate(canonical):
        place: Place = (position,)
        if message["role"] == "assistant":
            messages.append({"type": "AssistantMessage", "Content": assistant_content(message, place, losses)})
            names.start((call["id"], call["function"]["name"]) for call in message.get("tool_calls", ()))
        elif message["role"] == "tool":
            messages.append(_result(message, place, losses, names))
        elif message["role"] == "user":
            messages.append(_user(message, place, losses))
        elif not isinstance(message["content"], str) and any(part["text"] for part in message["content"]):
            losses.add((*place, "content"), AS_STRING)
    prompt = {"SystemPrompt": "\n\n".join(texts)} if texts else {}
    return losses.converted({**prompt, "Messages": messages})


def assistant_content(message: dict[str, Any], place: Place, losses: Losses) -> list[dict[str, Any]]:
    """Return the blocks of an assistant message, in their order."""
    content: list[dict[str, Any]] = []
    for block in blocks_of(reduced(message, place, losses, DETAILS, CALLS)):
        is_signed = block.kind == "text" and bool(content) and content[-1].get("text") == ""
        signature = content.pop() if is_signed else {}
        content.append({**signature, **_block(block)})
    return content


def _block(block: Block) -> Any:
    if block.kind == "text":
        return {"type": "TextContent", "text": block.value}
    return (write_call if block.kind == "call" else write_detail)(block.value)


def _user(message: dict[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    if "name" in message:
        losses.add((*place, "name"), "a user message has no name there")
    at = (*place, "content")
    blocks = user_parts(message["content"], at, losses, PARTS)
    if not isinstance(message["content"], str) and len(blocks) == 1 and blocks[0]["type"] == "TextContent":
        losses.add(at, AS_STRING)
    return {"type": "UserMessage", "Content": blocks}


def _result(message: dict[str, Any], place: Place, losses: Losses, names: PendingCalls[str]) -> dict[str, Any]:
    texts = texts_of(message["content"], (*place, "content"), losses)
    if not isinstance(message["content"], str) and len(texts) == 1:
        losses.add((*place, "content"), AS_STRING)
    name = names.answer(message["tool_call_id"])
    return {
        "type": "ToolResultMessage",
        "ToolCallID": message["tool_call_id"],
        **({"ToolName": name} if name is not None else {}),
        "Content": [{"type": "TextContent", "text": text} for text in texts],
    }
