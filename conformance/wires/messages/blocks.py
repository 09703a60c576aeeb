"""Content blocks of Messages and their counterparts in chat completions: parts, reasoning details, calls.

Both directions of each pair stand here, so that what does not come back is a loss. Reading takes any block that has its
type; what a block lacks, its counterpart lacks.
"""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from conformance.wire.arguments import decode
from conformance.wire.codec import Codec
from conformance.wire.content import read_media
from conformance.wire.media import address_of, image_at
from conformance.wire.values import as_object, as_word, rendered

FORMAT: Final = "anthropic-claude-v1"
"""OpenRouter's name for reasoning that Anthropic's models signed."""

_KINDS_OF_IDS: Final = {"rs_": "openai-responses-v1"}
"""Whose reasoning it is, by the beginning of its id, if it does not say so; thinking of this wire has no id."""

LOCAL: Final = "the wire has no such field"
_FOREIGN: Final = "a block has no such field"


def read_part(block: dict[str, Any]) -> dict[str, Any] | str:
    """Return a block as a content part, or the reason if there is none."""
    if type(block.get("text")) is str:
        return {"type": "text", "text": block["text"]}
    kind, source = block.get("type"), as_object(block.get("source"))
    url = _url(source)
    if kind == "image" and url:
        return image_at(url)
    if kind == "document" and source.get("type") == "base64" and url:
        return _file({"file_data": url}, block)
    if kind == "document" and source.get("type") == "file" and type(source.get("file_id")) is str:
        return _file({"file_id": source["file_id"]}, block)
    return "the wire has no such user content"


def _url(source: Mapping[str, Any]) -> str:
    """Return the URL of an image, with its data if that is where it comes from; empty if it comes from elsewhere."""
    if source.get("type") == "base64" and type(source.get("media_type")) is type(source.get("data")) is str:
        return f"data:{source['media_type']};base64,{source['data']}"
    return as_word(source.get("url")) if source.get("type") == "url" else ""


def _file(file: dict[str, Any], block: Mapping[str, Any]) -> dict[str, Any]:
    named = {"filename": block["title"]} if type(block.get("title")) is str else {}
    return {"type": "file", "file": file | named}


def write_part(part: dict[str, Any]) -> dict[str, Any] | str:
    """Return a content part as a block, or the reason if there is none."""
    kind = part.get("type")
    if kind == "text":
        return {"type": "text", "text": part["text"]}
    if kind not in ("image_url", "file", "input_audio"):
        return "there is no block for this kind of content"
    media = read_media(part)
    source = None if media is None else {"type": "base64", "media_type": media.kind, "data": media.data}
    if kind == "image_url":
        address = address_of(part)
        source = source or ({"type": "url", "url": address} if isinstance(address, str) and address else None)
        return {"type": "image", "source": source} if source else "an image has to be base64 or a URL"
    if kind == "file":
        file = part["file"]
        source = source or ({"type": "file", "file_id": file["file_id"]} if "file_id" in file else None)
        title = {"title": file["filename"]} if "filename" in file else {}
        return {"type": "document", "source": source, **title} if source else "a document has to be base64 or a file id"
    return "there is no block for audio"


def read_detail(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a thinking block as a reasoning detail."""
    if block["type"] == "redacted_thinking":
        return {"type": "reasoning.encrypted", "data": block.get("data"), "format": FORMAT}
    detail = {"type": "reasoning.text", "text": block.get("thinking"), "format": FORMAT}
    return detail | ({"signature": block["signature"]} if block.get("signature") is not None else {})


def write_detail(detail: Mapping[str, Any]) -> dict[str, Any] | str:
    """Return a reasoning detail as a thinking block, or the reason if the wire takes none.

    Thinking without a signature goes back only where it came from: some hosts of other models send none.
    """
    kind = detail.get("format") or _KINDS_OF_IDS.get(str(detail.get("id"))[:3], FORMAT)
    if kind != FORMAT:
        return "another model's reasoning, which Anthropic cannot verify"
    is_unsigned = detail.get("type") == "reasoning.text" and type(detail.get("signature")) is not str
    if is_unsigned and detail.get("format") != FORMAT:
        return "a thinking block requires its signature"
    return thinking_block(detail) or "there is no block for this kind of reasoning"


def thinking_block(detail: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a reasoning detail as a thinking block as it stands, signed or not; None if it is not one."""
    if detail.get("type") == "reasoning.encrypted":
        return {"type": "redacted_thinking", "data": detail.get("data")}
    if detail.get("type") != "reasoning.text":
        return None
    block = {"type": "thinking", "thinking": detail.get("text") or ""}
    return block | ({"signature": detail["signature"]} if detail.get("signature") is not None else {})


def read_call(block: Mapping[str, Any], written: str = "") -> dict[str, Any]:
    """Return a block as a call; `written` is its input as a stream wrote it, which stays if it is not JSON."""
    try:
        arguments = rendered(orjson.loads(written) if written else block.get("input", {}))
    except orjson.JSONDecodeError:
        arguments = written
    call = {"type": "function", "function": {"name": block.get("name"), "arguments": arguments}}
    return call | ({"id": block["id"]} if "id" in block else {})


def write_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call as a block; arguments that are not JSON go as the text that they are."""
    function = as_object(call.get("function"))
    try:
        given = orjson.loads(function.get("arguments") or "{}")
    except (orjson.JSONDecodeError, TypeError):
        given = function.get("arguments")
    block = {"type": "tool_use", "name": function.get("name"), "input": given}
    return block | ({"id": call["id"]} if "id" in call else {})


def _write_repaired(call: dict[str, Any]) -> dict[str, Any]:
    """Return a call as a block whose input is an object: what the arguments hold of one, as far as they can be read."""
    return {**write_call(call), "input": decode(call["function"]["arguments"])}


PARTS: Final = Codec(write_part, read_part, _FOREIGN)
DETAILS: Final = Codec(write_detail, read_detail, _FOREIGN)
CALLS: Final = Codec(_write_repaired, read_call, "a block holds the arguments as an object, and no other fields")
READ_PARTS: Final = Codec(read_part, write_part, LOCAL)
