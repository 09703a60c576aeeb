"""The four blocks of the neutral model and their counterparts on the wire."""

from typing import Any, Final

from conformance.wire.arguments import decode, encode, is_compact
from conformance.wire.codec import Codec
from conformance.wire.content import read_media

TEXT_SIGNATURE: Final = "reasoning.text_signature"
"""The type of the detail that holds the signature of the text after it. No provider knows it."""

_LOCAL: Final = "the wire has no such field"
_FOREIGN: Final = "a block has no such field"


def write_part(part: dict[str, Any]) -> dict[str, Any] | str:
    """Return a user's content part as a block, or the reason if there is none."""
    if part["type"] == "text":
        return {"type": "TextContent", "text": part["text"]}
    image = read_media(part) if part["type"] == "image_url" else None
    if image is None:
        return "a user block is text, or an image in base64"
    return {"type": "ImageContent", "data": image.data, "mimeType": image.kind}


def read_part(block: dict[str, Any]) -> dict[str, Any]:
    """Return a user's block as a content part."""
    if block["type"] == "TextContent":
        return {"type": "text", "text": block["text"]}
    return {"type": "image_url", "image_url": {"url": f"data:{block['mimeType']};base64,{block['data']}"}}


def write_detail(detail: dict[str, Any]) -> dict[str, Any] | str:
    """Return a reasoning detail as a block, or the reason if there is none."""
    match detail["type"]:
        case "reasoning.encrypted":
            return {"type": "ThinkingContent", "thinking": "", "thinkingSignature": detail["data"], "redacted": True}
        case "reasoning.text":
            block = {"type": "ThinkingContent", "thinking": detail.get("text") or ""}
            return {**block, "thinkingSignature": detail["signature"]} if detail.get("signature") else block
        case "reasoning.summary":
            return {"type": "ThinkingContent", "thinking": detail["summary"]}
        case str(kind) if kind == TEXT_SIGNATURE and isinstance(detail.get("data"), str) and detail["data"]:
            return {"type": "TextContent", "text": "", "textSignature": detail["data"]}
    return "there is no block for this kind of reasoning"


def read_detail(block: dict[str, Any]) -> dict[str, Any]:
    """Return a thinking block, or the signature of a text, as a reasoning detail."""
    if block["type"] == "TextContent":
        return {"type": TEXT_SIGNATURE, "data": block["textSignature"]}
    signature = block.get("thinkingSignature", "")
    if block.get("redacted"):
        return {"type": "reasoning.encrypted", "data": signature}
    detail = {"type": "reasoning.text", "text": block["thinking"]}
    return {**detail, "signature": signature} if signature else detail


def write_call(call: dict[str, Any]) -> dict[str, Any]:
    """Return a tool call as a block: the arguments as an object, and as text if the object does not reproduce it."""
    raw = call["function"]["arguments"]
    block = {"type": "ToolCall", "id": call["id"], "name": call["function"]["name"], "arguments": decode(raw)}
    match call.get("extra_content"):
        case {"google": {"thought_signature": str(signature)}} if signature:
            block["thoughtSignature"] = signature
    return block if is_compact(raw) else {**block, "rawArguments": raw}


def read_call(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block as a tool call; its raw arguments count as long as they still match the object."""
    arguments = block.get("arguments") or {}
    raw = block.get("rawArguments")
    is_current = raw is not None and decode(raw) == arguments
    function = {"name": block["name"], "arguments": raw if is_current else encode(arguments)}
    call = {"id": block["id"], "type": "function", "function": function}
    if block.get("thoughtSignature"):
        call["extra_content"] = {"google": {"thought_signature": block["thoughtSignature"]}}
    return call


PARTS: Final = Codec(write_part, read_part, _FOREIGN)
DETAILS: Final = Codec(write_detail, read_detail, _FOREIGN)
CALLS: Final = Codec(write_call, read_call, _FOREIGN)
READ_PARTS: Final = Codec(read_part, write_part, _LOCAL)
READ_DETAILS: Final = Codec(read_detail, write_detail, _LOCAL)
READ_CALLS: Final = Codec(read_call, write_call, _LOCAL)
