"""From the transcript to a context."""

from typing import Any

from conformance.convert.canonical.asked import Asked
from conformance.convert.canonical.assistant import Block, reduced, spread
from conformance.convert.canonical.held import AS_STRING, instructions, texts, user_parts
from conformance.convert.dialects import Converted, Losses
from conformance.convert.dialects.neutral.blocks import CALLS, DETAILS, PARTS, write_call, write_detail
from conformance.documents.pointer import Place


def context(canonical: list[dict[str, Any]]) -> Converted:
    """Return the context of a transcript."""
    losses = Losses()
    words = instructions(canonical, losses)
    messages: list[dict[str, Any]] = []
    names: Asked[str] = Asked()
    for position, message in enumerate(canonical):
        place: Place = (position,)
        if message["role"] == "assistant":
            messages.append({"type": "AssistantMessage", "Content": assistant_content(message, place, losses)})
            names.begin((call["id"], call["function"]["name"]) for call in message.get("tool_calls", ()))
        elif message["role"] == "tool":
            messages.append(_result(message, place, losses, names))
        elif message["role"] == "user":
            messages.append(_user(message, place, losses))
        elif not isinstance(message["content"], str) and any(part["text"] for part in message["content"]):
            losses.add((*place, "content"), AS_STRING)
    prompt = {"SystemPrompt": "\n\n".join(words)} if words else {}
    return losses.converted({**prompt, "Messages": messages})


def assistant_content(message: dict[str, Any], place: Place, losses: Losses) -> list[dict[str, Any]]:
    """Return the blocks of an assistant's message, in their order."""
    return [_block(block) for block in spread(reduced(message, place, losses, DETAILS, CALLS))]


def _block(block: Block) -> Any:
    if block.kind == "text":
        return {"type": "TextContent", "text": block.value}
    return (write_call if block.kind == "call" else write_detail)(block.value)


def _user(message: dict[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    if "name" in message:
        losses.add((*place, "name"), "a user has no name")
    at = (*place, "content")
    blocks = user_parts(message["content"], at, losses, PARTS)
    if not isinstance(message["content"], str) and len(blocks) == 1 and blocks[0]["type"] == "TextContent":
        losses.add(at, AS_STRING)
    return {"type": "UserMessage", "Content": blocks}


def _result(message: dict[str, Any], place: Place, losses: Losses, names: Asked[str]) -> dict[str, Any]:
    words = texts(message["content"], (*place, "content"), losses)
    if not isinstance(message["content"], str) and len(words) == 1:
        losses.add((*place, "content"), AS_STRING)
    name = names.answered(message["tool_call_id"])
    return {
        "type": "ToolResultMessage",
        "ToolCallID": message["tool_call_id"],
        **({"ToolName": name} if name is not None else {}),
        "Content": [{"type": "TextContent", "text": text} for text in words],
    }
