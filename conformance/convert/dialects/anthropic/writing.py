"""From the transcript to Anthropic's messages."""

from typing import Any

from conformance.convert.dialects.anthropic.blocks import CALLS, DETAILS, PARTS, write_call, write_detail
from conformance.documents.pointer import Place
from conformance.wire.blocks import Block, blocks_of, reduced
from conformance.wire.content import AS_STRING, instructions, user_parts
from conformance.wire.losses import Converted, Losses


def messages(canonical: list[dict[str, Any]]) -> Converted:
    """Return a request's system prompt and messages."""
    losses = Losses()
    system = _system(canonical, losses)
    native: list[dict[str, Any]] = []
    previous = ""
    for position, message in enumerate(canonical):
        role = message["role"]
        if role == "assistant":
            native.append({"role": role, "content": _assistant(message, (position,), losses)})
        elif role == "tool":
            _join(native, [_result(message)], follows=previous == "tool")
        elif role == "user":
            _add(native, message, position, losses, follows=previous == "tool")
        if role in ("assistant", "tool", "user"):
            previous = role
    return losses.converted({"system": system, "messages": native} if system else {"messages": native})


def _system(canonical: list[dict[str, Any]], losses: Losses) -> str | list[dict[str, Any]]:
    """Return the system prompt: a string if the transcript has one string, else blocks."""
    texts = instructions(canonical, losses)
    first = next((message for message in canonical if message["role"] in ("system", "developer")), None)
    if len(texts) == 1 and first is not None and first["content"] == texts[0]:
        return texts[0]
    return [{"type": "text", "text": text} for text in texts]


def _assistant(message: dict[str, Any], place: Place, losses: Losses) -> list[dict[str, Any]]:
    return [_block(block) for block in blocks_of(reduced(message, place, losses, DETAILS, CALLS))]


def _block(block: Block) -> Any:
    if block.kind == "text":
        return {"type": "text", "text": block.value}
    return (write_call if block.kind == "call" else write_detail)(block.value)


def _result(message: dict[str, Any]) -> dict[str, Any]:
    content = message["content"]
    block = {"type": "tool_result", "tool_use_id": message["tool_call_id"]}
    if not content:
        return block
    return {**block, "content": content if isinstance(content, str) else [dict(part) for part in content]}


def _join(native: list[dict[str, Any]], blocks: list[dict[str, Any]], *, follows: bool) -> None:
    if follows:
        native[-1]["content"] += blocks
    else:
        native.append({"role": "user", "content": blocks})


def _add(
    native: list[dict[str, Any]], message: dict[str, Any], position: int, losses: Losses, *, follows: bool
) -> None:
    """Add a user message; after tool results it goes into their message, since the roles alternate there."""
    if "name" in message:
        losses.add((position, "name"), "a user message has no name there")
    content = message["content"]
    blocks = user_parts(content, (position, "content"), losses, PARTS)
    if follows and blocks:
        if not isinstance(content, str) and len(blocks) == 1 and blocks[0]["type"] == "text":
            losses.add((position, "content"), AS_STRING)
        _join(native, blocks, follows=True)
    else:
        native.append({"role": "user", "content": content if isinstance(content, str) else blocks or ""})
