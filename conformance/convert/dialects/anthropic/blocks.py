"""Anthropic's content blocks and their counterparts on the wire."""

from typing import Any, Final

from conformance.wire.arguments import decode, encode
from conformance.wire.codec import Codec
from conformance.wire.content import read_media

FORMAT: Final = "anthropic-claude-v1"
"""OpenRouter's name for reasoning that Anthropic's models signed."""

_LOCAL: Final = "the wire has no such field"
_FOREIGN: Final = "a block has no such field"


def write_part(part: dict[str, Any]) -> dict[str, Any] | str:
    """Return a user's content part as a block, or the reason if there is none."""
    kind = part["type"]
    if kind == "text":
        return {"type": "text", "text": part["text"]}
    media = read_media(part)
    source = None if media is None else {"type": "base64", "media_type": media.kind, "data": media.data}
    if kind == "image_url":
        url = part["image_url"]["url"]
        source = source or (None if url.startswith("data:") else {"type": "url", "url": url})
        return {"type": "image", "source": source} if source else "an image has to be base64 or a URL"
    if kind == "file":
        file = part["file"]
        source = source or ({"type": "file", "file_id": file["file_id"]} if "file_id" in file else None)
        title = {"title": file["filename"]} if "filename" in file else {}
        return {"type": "document", "source": source, **title} if source else "a document has to be base64 or a file id"
    return "there is no block for audio"


def read_part(block: dict[str, Any]) -> dict[str, Any] | str:
    """Return a user's block as a content part, or the reason if there is none."""
    if block["type"] == "text":
        return {"type": "text", "text": block["text"]}
    given = block.get("source")
    source = given if isinstance(given, dict) else {}
    url = f"data:{source.get('media_type')};base64,{source.get('data')}"
    match block["type"], source.get("type"):
        case "image", "base64":
            return {"type": "image_url", "image_url": {"url": url}}
        case "image", "url":
            return {"type": "image_url", "image_url": {"url": source["url"]}}
        case "document", "base64":
            file = {"file_data": url}
        case "document", "file":
            file = {"file_id": source["file_id"]}
        case _:
            return "the wire has no such user content"
    if isinstance(block.get("title"), str):
        file["filename"] = block["title"]
    return {"type": "file", "file": file}


def write_detail(detail: dict[str, Any]) -> dict[str, Any] | str:
    """Return a reasoning detail as a thinking block, or the reason if there is none."""
    if detail.get("format") not in (None, FORMAT):
        return "another model's reasoning, which Anthropic cannot verify"
    if detail["type"] == "reasoning.encrypted":
        return {"type": "redacted_thinking", "data": detail["data"]}
    if detail["type"] != "reasoning.text":
        return "there is no block for this kind of reasoning"
    if not isinstance(detail.get("signature"), str):
        return "a thinking block requires its signature"
    return {"type": "thinking", "thinking": detail.get("text") or "", "signature": detail["signature"]}


def read_detail(block: dict[str, Any]) -> dict[str, Any]:
    """Return a thinking block as a reasoning detail."""
    if block["type"] == "redacted_thinking":
        return {"type": "reasoning.encrypted", "data": block["data"], "format": FORMAT}
    return {
        "type": "reasoning.text",
        "text": block["thinking"],
        "signature": block["signature"],
        "format": FORMAT,
    }


def write_call(call: dict[str, Any]) -> dict[str, Any]:
    """Return a tool call as a block, with the arguments as an object."""
    function = call["function"]
    return {"type": "tool_use", "id": call["id"], "name": function["name"], "input": decode(function["arguments"])}


def read_call(block: dict[str, Any]) -> dict[str, Any]:
    """Return a tool_use block as a call, with the arguments as compact JSON."""
    function = {"name": block["name"], "arguments": encode(block["input"])}
    return {"id": block["id"], "type": "function", "function": function}


PARTS: Final = Codec(write_part, read_part, _FOREIGN)
DETAILS: Final = Codec(write_detail, read_detail, _FOREIGN)
CALLS: Final = Codec(write_call, read_call, "a block holds the arguments as an object, and no other fields")
READ_PARTS: Final = Codec(read_part, write_part, _LOCAL)
READ_DETAILS: Final = Codec(read_detail, write_detail, _LOCAL)
READ_CALLS: Final = Codec(read_call, write_call, _LOCAL)
