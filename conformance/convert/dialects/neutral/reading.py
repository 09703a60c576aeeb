"""From a context to the transcript."""

from typing import Any, Final

from conformance.convert.canonical.asked import Asked
from conformance.convert.canonical.assistant import Block, displaced, gather
from conformance.convert.canonical.held import content_of, passed
from conformance.convert.dialects import Converted, Losses
from conformance.convert.dialects.neutral.blocks import READ_CALLS, READ_DETAILS, READ_PARTS
from conformance.documents.pointer import Place

_HELD: Final = {
    "UserMessage": ("type", "Content"),
    "AssistantMessage": ("type", "Content"),
    "ToolResultMessage": ("type", "Content", "ToolCallID", "ToolName"),
}


def transcript(context: dict[str, Any]) -> Converted:
    """Return the transcript of a context whose blocks stand where they may."""
    losses = Losses()
    if context.get("Tools"):
        losses.add(("Tools",), "a transcript holds only messages; the definitions are made of them apart")
    found: list[dict[str, Any]] = []
    if context.get("SystemPrompt"):
        found.append({"role": "system", "content": context["SystemPrompt"]})
    names: Asked[str] = Asked()
    for position, message in enumerate(context["Messages"] or ()):
        place: Place = ("Messages", position)
        for key, value in message.items():
            if key not in _HELD[message["type"]] and value:
                losses.add((*place, key), "kept beside the message; it never crosses the wire")
        at = (*place, "Content")
        if message["type"] == "AssistantMessage":
            found.append(_assistant(message, at, losses))
            names.begin((call["id"], call["function"]["name"]) for call in found[-1].get("tool_calls", ()))
        elif message["type"] == "UserMessage":
            found.append({"role": "user", "content": _user(message, at, losses)})
        else:
            name = names.answered(message["ToolCallID"])
            if message.get("ToolName") and message["ToolName"] != name:
                losses.add((*place, "ToolName"), "a result on the wire has the name of the call that it answers")
            content = content_of(_result(message, at, losses))
            found.append({"role": "tool", "tool_call_id": message["ToolCallID"], "content": content})
    return losses.converted(found)


def _user(message: dict[str, Any], place: Place, losses: Losses) -> Any:
    parts = []
    for number, block in enumerate(message["Content"] or ()):
        if block.get("text") == "":
            losses.add((*place, number), "an empty text is none")
        elif (part := passed(block, (*place, number), losses, READ_PARTS)) is not None:
            parts.append(part)
    return parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts or ""


def _result(message: dict[str, Any], place: Place, losses: Losses) -> list[str]:
    words = []
    for number, block in enumerate(message["Content"] or ()):
        if block.get("text"):
            passed(block, (*place, number), losses, READ_PARTS)
            words.append(block["text"])
        else:
            is_text = block["type"] == "TextContent"
            losses.add((*place, number), "an empty text is none" if is_text else "a result on the wire is text")
    return words


def _assistant(message: dict[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    blocks, places = [], []
    for number, block in enumerate(message["Content"] or ()):
        at = (*place, number)
        if block["type"] == "TextContent" and not block["text"]:
            losses.add(at, "an empty text is none")
            continue
        if block["type"] == "TextContent":
            passed(block, at, losses, READ_PARTS)
            made = Block("text", block["text"])
        elif block["type"] == "ToolCall":
            made = Block("call", passed(block, at, losses, READ_CALLS))
        else:
            made = Block("detail", passed(block, at, losses, READ_DETAILS))
        blocks.append(made)
        places.append(at)
    for position in displaced(blocks):
        losses.add(places[position], "text stands before the calls on the wire")
    return gather(blocks)
