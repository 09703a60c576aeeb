"""From Anthropic's messages to the transcript."""

from typing import Any

from conformance.convert.canonical.assistant import Block, displaced, gather
from conformance.convert.canonical.held import AS_STRING, passed
from conformance.convert.dialects import Converted, Losses
from conformance.convert.dialects.anthropic.blocks import READ_CALLS, READ_DETAILS, READ_PARTS
from conformance.documents.pointer import Place

_THINKING = ("thinking", "redacted_thinking")


def transcript(native: dict[str, Any]) -> Converted:
    """Return the transcript of a body, whichever it is."""
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
        found += _system(native.get("system"), losses)
        for position, message in enumerate(native["messages"]):
            _read(message, ("messages", position), found, losses)
    return losses.converted(found)


def _system(system: Any, losses: Losses) -> list[dict[str, Any]]:
    content = system if isinstance(system, str) else _parts(system or [], ("system",), losses)
    if not content:
        if system is not None:
            losses.add(("system",), "an empty system prompt is none")
        return []
    return [{"role": "system", "content": content}]


def _read(message: dict[str, Any], place: Place, found: list[dict[str, Any]], losses: Losses) -> None:
    """Add what one message is on the wire: for a user, the results that it holds and then what is said."""
    for key in message:
        if key not in ("role", "content"):
            losses.add((*place, key), "no place for it on the wire")
    if message["role"] == "assistant":
        found.append(_assistant(message["content"], (*place, "content"), losses))
        return
    user = _user(message["content"], (*place, "content"), losses)
    if found and found[-1]["role"] == "tool" and (user[0]["role"] == "tool" or user[0]["content"]):
        losses.add(place, "stands with the tool results before it in one message")
    found += user


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
    for position in displaced(blocks):
        losses.add(places[position], "text stands before the calls on the wire")
    return gather(blocks)


def _block(block: dict[str, Any], place: Place, losses: Losses) -> Block | None:
    """Return a block of an assistant as it stands in a message of the wire; None where it has no place there."""
    if block["type"] == "text" and block["text"]:
        passed(block, place, losses, READ_PARTS)
        return Block("text", block["text"])
    if block["type"] == "tool_use":
        return Block("call", passed(block, place, losses, READ_CALLS))
    if block["type"] in _THINKING:
        return Block("detail", passed(block, place, losses, READ_DETAILS))
    losses.add(place, "an empty text is none" if block["type"] == "text" else "what Anthropic runs itself is no call")
    return None


def _user(content: str | list[dict[str, Any]], place: Place, losses: Losses) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"role": "user", "content": content}]
    answers = [number for number, block in enumerate(content) if block["type"] == "tool_result"]
    results = [_result(content[number], (*place, number), losses) for number in answers]
    for number in range(max(answers, default=-1)):
        if number not in answers:
            losses.add((*place, number), "results come first on the wire")
    parts = _parts(content, place, losses)
    if not content:
        losses.add(place, AS_STRING)
    if results and not parts:
        return results
    is_text = not parts or (results and len(parts) == 1 and parts[0]["type"] == "text")
    said = "".join(part["text"] for part in parts) if is_text else parts
    return [*results, {"role": "user", "content": said}]


def _parts(content: list[dict[str, Any]], place: Place, losses: Losses) -> list[dict[str, Any]]:
    """Return what of some blocks is content of a message that is no result."""
    parts = []
    for number, block in enumerate(content):
        if block["type"] == "text" and not block["text"]:
            losses.add((*place, number), "an empty text is none")
        elif block["type"] != "tool_result":
            part = passed(block, (*place, number), losses, READ_PARTS)
            if part is not None:
                parts.append(part)
    return parts


def _result(block: dict[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    for key, value in block.items():
        if key not in ("type", "tool_use_id", "content") and value is not None:
            losses.add((*place, key), "a result on the wire is an id and a text")
    content = block.get("content") or ""
    if not isinstance(content, str):
        content = _texts(content, (*place, "content"), losses) or ""
    if not content and block.get("content") is not None:
        losses.add((*place, "content"), "an empty result comes back without content")
    return {"role": "tool", "tool_call_id": block["tool_use_id"], "content": content}


def _texts(content: list[dict[str, Any]], place: Place, losses: Losses) -> list[dict[str, Any]]:
    """Return the parts of a result that are text."""
    parts = []
    for number, part in enumerate(content):
        if part["type"] != "text":
            losses.add((*place, number), "a result on the wire is text")
        elif (text := passed(part, (*place, number), losses, READ_PARTS)) is not None:
            parts.append(text)
    return parts
