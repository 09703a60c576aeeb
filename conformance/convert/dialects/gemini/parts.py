"""Gemini's parts and their counterparts on the wire."""

from collections.abc import Set
from pathlib import PurePosixPath
from typing import Any, Final

from conformance.wire.arguments import decode, encode, is_compact
from conformance.wire.codec import Codec
from conformance.wire.content import read_media, write_media
from conformance.wire.media import Media

FORMAT: Final = "google-gemini-v1"
"""OpenRouter's name for reasoning that Gemini signed."""

_IMAGES: Final = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".heic": "image/heic",
}


def generated_id(number: int) -> str:
    """Return the id of a call without one from Gemini: its number among all calls of the conversation."""
    return f"gemini_call_{number}"


def write_part(part: dict[str, Any]) -> dict[str, Any] | str:
    """Return a user's content part as Gemini has it, or the reason if there is none."""
    if part["type"] == "text":
        return {"text": part["text"]}
    media = read_media(part)
    if media is not None:
        return {"inlineData": {"mimeType": media.kind, "data": media.data}}
    if part["type"] == "image_url":
        url = part["image_url"]["url"]
        kind = _IMAGES.get(PurePosixPath(url).suffix.lower())
        if kind is not None and not url.startswith("data:"):
            return {"fileData": {"mimeType": kind, "fileUri": url}}
    return "media have to be base64, or a URL that shows their type"


def read_part(part: dict[str, Any]) -> dict[str, Any] | str:
    """Return a user's part as the wire has it, or the reason if there is none."""
    match part:
        case {"text": str(text)}:
            return {"type": "text", "text": text}
        case {"inlineData": {"mimeType": str(kind), "data": str(data)}}:
            return write_media(Media(kind, data))
        case {"fileData": {"mimeType": str(kind), "fileUri": str(url)}} if kind in _IMAGES.values():
            return {"type": "image_url", "image_url": {"url": url}}
    return "the wire has no such user content"


def write_detail(detail: dict[str, Any], tied: Set[str] = frozenset()) -> dict[str, Any] | str:
    """Return a reasoning detail as a part, or the reason if there is none; `tied` are ids of calls."""
    signature = detail["data"] if detail["type"] == "reasoning.encrypted" else detail.get("signature")
    if signature is not None and detail.get("format") not in (None, FORMAT):
        return "another model's reasoning, which Gemini cannot verify"
    if detail["type"] == "reasoning.encrypted":
        is_tied = detail.get("id") in tied
        return (
            "comes back beside the call that it belongs to" if is_tied else {"text": "", "thoughtSignature": signature}
        )
    if detail["type"] != "reasoning.text":
        return "there is no part for this kind of reasoning"
    thought = {"text": detail.get("text") or "", "thought": True}
    return thought if signature is None else {**thought, "thoughtSignature": signature}


def read_detail(part: dict[str, Any]) -> dict[str, Any]:
    """Return a thought part, or a signature without text, as a reasoning detail."""
    if not part.get("thought"):
        return {"type": "reasoning.encrypted", "data": part["thoughtSignature"], "format": FORMAT}
    detail = {"type": "reasoning.text", "text": part["text"]}
    if "thoughtSignature" in part:
        detail["signature"] = part["thoughtSignature"]
    return {**detail, "format": FORMAT}


def write_call(call: dict[str, Any]) -> dict[str, Any]:
    """Return a tool call as a part, with the arguments as an object."""
    function = call["function"]
    part: dict[str, Any] = {
        "functionCall": {"id": call["id"], "name": function["name"], "args": decode(function["arguments"])}
    }
    signature = signature_of(call)
    return part if signature is None else {**part, "thoughtSignature": signature}


def read_call(part: dict[str, Any]) -> dict[str, Any]:
    """Return a function call as a tool call, with the arguments as compact JSON."""
    function_call = part["functionCall"]
    function = {"name": function_call["name"], "arguments": encode(function_call.get("args") or {})}
    call = {"id": function_call["id"], "type": "function", "function": function}
    return with_signature(call, part["thoughtSignature"]) if "thoughtSignature" in part else call


def signature_of(call: dict[str, Any]) -> str | None:
    """Return the thought signature beside a call, if there is one."""
    match call.get("extra_content"):
        case {"google": {"thought_signature": str(signature)}}:
            return signature
    return None


def with_signature(call: dict[str, Any], signature: str) -> dict[str, Any]:
    """Return a call with a thought signature beside it."""
    return {**call, "extra_content": {"google": {"thought_signature": signature}}}


def write_response(text: str) -> dict[str, Any]:
    """Return a result as the object that Gemini requires: the one in the text, or else the text as `output`.

    Source: https://ai.google.dev/api/caching#FunctionResponse, where `output` is the key for the result.
    """
    return decode(text) if _is_object(text) else {"output": text}


def read_response(response: dict[str, Any]) -> str:
    """Return a function response as text: its `output` if that is all, or else the object as JSON."""
    match response:
        case {"output": str(text)} if len(response) == 1:
            return text
    return encode(response)


def _is_object(text: str) -> bool:
    """Return whether a text is compact JSON of an object, other than one with only a text under `output`."""
    return text.startswith("{") and is_compact(text) and read_response(decode(text)) == text


PARTS: Final = Codec(write_part, read_part, "a part has no such field")
READ_PARTS: Final = Codec(read_part, write_part, "the wire has no such field")
CALLS: Final = Codec(
    write_call, read_call, "a part holds the arguments as an object, and only a thought signature beside it"
)


def details(calls: Set[str]) -> Codec:
    """Return the codec for the reasoning of a message whose calls have these ids."""
    return Codec(lambda detail: write_detail(detail, calls), read_detail, "a part has no such field")
