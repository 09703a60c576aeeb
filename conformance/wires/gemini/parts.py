"""Parts of Gemini and their counterparts in chat completions: content parts, reasoning details, calls, results.

Both directions of each pair stand here, so that what does not come back is a loss. Reading takes any part that has its
kind; what a part lacks, its counterpart lacks.
"""

from collections.abc import Mapping, Sequence, Set
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from conformance.wire.arguments import decode
from conformance.wire.blocks import Block
from conformance.wire.codec import Codec
from conformance.wire.content import read_media, write_media
from conformance.wire.ids import is_of_place
from conformance.wire.media import IMAGE, Media, address_of, image_at, media_of
from conformance.wire.values import as_object, rendered
from conformance.wires.gemini.names import of_either

FORMAT: Final = "google-gemini-v1"
"""OpenRouter's name for reasoning that Gemini signed."""

LOCAL: Final = "the wire has no such field"
_FOREIGN: Final = "a part has no such field"
_IMAGES: Final[Mapping[str, str]] = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".heic": "image/heic",
}
"""The media types of images by the end of their URLs, since this wire requires the type beside a URL."""


def read_part(part: Mapping[str, Any]) -> dict[str, Any] | str:
    """Return a user's part as a content part, or the reason if there is none."""
    if type(part.get("text")) is str:
        return {"type": "text", "text": part["text"]}
    inline, file = as_object(of_either(part, "inlineData")), as_object(of_either(part, "fileData"))
    kind, data = of_either(inline, "mimeType"), inline.get("data")
    # A data URL ends its media type with a comma.
    if type(kind) is str and type(data) is str and kind and "," not in kind:
        return write_media(Media(kind, data))
    url = of_either(file, "fileUri")
    if type(url) is str and _kind_of(url) and of_either(file, "mimeType") == _kind_of(url):
        return image_at(url)
    return "the wire has no such user content"


def write_part(part: Mapping[str, Any]) -> dict[str, Any] | str:
    """Return a content part as a part, or the reason if there is none."""
    kind = part.get("type")
    if kind == "text":
        return {"text": part.get("text")}
    if kind not in (IMAGE, "input_audio", "file"):
        return "there is no part for this kind of content"
    media = _media_in(part)
    if media is not None and (kind != IMAGE or media.kind.startswith("image/")):
        return {"inlineData": {"mimeType": media.kind, "data": media.data}}
    url = address_of(part)
    if type(url) is str and _kind_of(url):
        return {"fileData": {"mimeType": _kind_of(url), "fileUri": url}}
    return "media have to be base64, or a URL that shows their type"


def _media_in(part: Mapping[str, Any]) -> Media | None:
    """Return the data in a content part; None if it holds none, or not as it should."""
    held = as_object(part.get(part["type"]))
    if part["type"] != "input_audio":
        return media_of(held.get("url" if part["type"] == IMAGE else "file_data"))
    return read_media(dict(part)) if type(held.get("format")) is type(held.get("data")) is str else None


def _kind_of(url: str) -> str:
    """Return the media type that a URL shows; empty if it shows none."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    return _IMAGES.get(PurePosixPath(path).suffix.lower(), "")


def read_detail(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a thought, or the signature of a text, as a reasoning detail."""
    signature = of_either(part, "thoughtSignature")
    if not part.get("thought"):
        return {"type": "reasoning.encrypted", "data": signature, "format": FORMAT}
    detail = {"type": "reasoning.text", "text": part["text"]}
    return {**detail, **({} if signature is None else {"signature": signature}), "format": FORMAT}


def is_alone(blocks: Sequence[Block]) -> bool:
    """Return whether the only reasoning of a message is an unsigned text at its front, which any model can read."""
    only = [block.kind for block in blocks].count("detail") == 1 and blocks[0].kind == "detail"
    return only and blocks[0].value["type"] == "reasoning.text" and "signature" not in blocks[0].value


def write_detail(detail: Mapping[str, Any], tied: Set[Any] = frozenset()) -> dict[str, Any] | str:
    """Return a reasoning detail as a part, or the reason if there is none; `tied` are ids of calls."""
    is_encrypted = detail.get("type") == "reasoning.encrypted"
    signature = detail.get("data" if is_encrypted else "signature")
    if signature is not None and detail.get("format") not in (None, FORMAT):
        return "another model's reasoning, which Gemini cannot verify"
    if is_encrypted:
        is_tied = detail.get("id") in tied
        written = {"text": "", "thoughtSignature": signature}
        return "comes back beside the call that it belongs to" if is_tied else written
    if detail.get("type") != "reasoning.text":
        return "there is no part for this kind of reasoning"
    thought = {"text": detail.get("text") or "", "thought": True}
    return thought if signature is None else {**thought, "thoughtSignature": signature}


def read_call(part: Mapping[str, Any], identity: Any) -> dict[str, Any]:
    """Return a part with a function call as a call; `identity` is its id if the wire gives none."""
    given = as_object(of_either(part, "functionCall"))
    call: dict[str, Any] = {"id": given.get("id") or identity, "type": "function"}
    call["function"] = {"name": given.get("name"), "arguments": rendered(given.get("args") or {})}
    signature = of_either(part, "thoughtSignature")
    if signature is not None:
        call["extra_content"] = {"google": {"thought_signature": signature}}
    return call


def write_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call as a part; arguments that are not JSON go as the text that they are."""
    function = as_object(call.get("function"))
    try:
        given = orjson.loads(function.get("arguments") or "{}")
    except (orjson.JSONDecodeError, TypeError):
        given = function.get("arguments")
    part: dict[str, Any] = {"functionCall": {**id_of(call.get("id")), "name": function.get("name"), "args": given}}
    signature = signature_of(call)
    return part if signature is None else {**part, "thoughtSignature": signature}


def id_of(identity: Any) -> dict[str, Any]:
    """Return an id as a member; one that only says where the call stands is not on the wire."""
    is_absent = identity is None or (type(identity) is str and is_of_place(identity))
    return {} if is_absent else {"id": identity}


def signature_of(call: Mapping[str, Any]) -> Any:
    """Return the thought signature beside a call; None if there is none."""
    return as_object(as_object(call.get("extra_content")).get("google")).get("thought_signature")


def with_signature(call: Mapping[str, Any], signature: Any) -> dict[str, Any]:
    """Return a call with a thought signature beside it."""
    return {**call, "extra_content": {"google": {"thought_signature": signature}}}


def read_response(response: Any) -> Any:
    """Return what a function returned: its `output` if that is all, as a text or parts, or else the object as JSON.

    Source: https://ai.google.dev/api/caching#FunctionResponse, where `output` is the key for the result.
    """
    if type(response) is dict and response.keys() == {"output"}:
        said = response["output"]
        is_parts = type(said) is list and said and all([type(part) is dict for part in said])
        return said if said is None or type(said) is str or is_parts else rendered(said)
    return rendered(response)


def write_response(content: Any) -> dict[str, Any]:
    """Return a result as the object that this wire requires: the one in the text, or else the content as `output`."""
    if type(content) is str and content.startswith("{"):
        given = decode(content)
        # Only an object that is read as the very same text stands for it.
        if read_response(given) == content:
            return given
    return {"output": content}


def _write_repaired(call: dict[str, Any]) -> dict[str, Any]:
    """Return a call as a part whose arguments are an object: what the text holds of one, as far as it can be read."""
    part = write_call(call)
    part["functionCall"] |= {"id": call["id"], "args": decode(call["function"]["arguments"])}
    return part


PARTS: Final = Codec(write_part, read_part, _FOREIGN)
CALLS: Final = Codec(
    _write_repaired,
    lambda part: read_call(part, None),
    "a part holds the arguments as an object, and only a thought signature beside it",
)
READ_PARTS: Final = Codec(read_part, write_part, LOCAL)


def details(tied: Set[Any]) -> Codec:
    """Return the codec for the reasoning of a message whose calls have these ids."""
    return Codec(lambda detail: write_detail(detail, tied), read_detail, _FOREIGN)
