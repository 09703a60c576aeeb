"""Content and tool calls of the Prompt API, and their counterparts on the wire.

The data of an image or a sound is a URL if it begins with a scheme, else base64. Without a media type, its first bytes
decide. On the wire, only user messages hold more than text. Arguments are objects here; the wire has the text that the
model wrote.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from conformance.documents.pointer import Place
from conformance.wire.arguments import parse_call
from conformance.wire.losses import Losses
from conformance.wire.reasoning import TEXT_KEYS

_BYTES: Final = (bytes, bytearray, memoryview)
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_DATA: Final = re.compile(r"data:([^,]+);base64,(.*)", re.DOTALL)

_SIGNATURES: Final = {
    "image": {"iVBORw0KGgo": "image/png", "/9j/": "image/jpeg", "UklGR": "image/webp", "R0lGOD": "image/gif"},
    "audio": {
        "UklGR": "audio/wav", "SUQz": "audio/mpeg", "//s": "audio/mpeg", "//o": "audio/mpeg", "//M": "audio/mpeg",
        "//I": "audio/mpeg", "T2dnUw": "audio/ogg", "ZkxhQw": "audio/flac",
    },
}  # fmt: skip
"""How the base64 of each media type begins."""

_ALIASES: Final = {"mpeg": "mp3", "wave": "wav", "x-wav": "wav", "vnd.wave": "wav"}
"""Other names of sound formats, and the names on the wire; `mpeg` is the media type of mp3."""


def bytes_to_base64(value: Any) -> Any:
    """Return a conversation with base64 wherever the `data` of a part is bytes."""
    if isinstance(value, Mapping):
        converted = {key: bytes_to_base64(item) for key, item in value.items()}
        data = value.get("data")
        return {**converted, "data": base64.b64encode(data).decode()} if isinstance(data, _BYTES) else converted
    return [bytes_to_base64(item) for item in value] if isinstance(value, list | tuple) else value


def content_to_wire(content: Any, place: Place, role: str, losses: Losses) -> Any:
    """Return the content of the wire for a message with a role."""
    if isinstance(content, str):
        return content
    parts = []
    for number, part in enumerate(content):
        at = (*place, number)
        if part["type"] == "text":
            parts.append({"type": "text", "text": part["text"]})
        elif role != "user":
            losses.add(at, f"on the wire, the content of the {role} is only text")
        else:
            parts += _image(part, at, losses) if part["type"] == "image" else _audio(part, at, losses)
    if parts or role == "assistant":
        return parts
    if not content:
        losses.add(place, "an empty list of parts; the wire requires at least one")
    return ""


def content_from_wire(content: Any, place: Place, role: str, losses: Losses) -> Any:
    """Return the content of the Prompt API; if no part is left, an empty text, as in the other direction."""
    if isinstance(content, str):
        return content
    parts = []
    for number, part in enumerate(content):
        at = (*place, number)
        if part["type"] == "text":
            parts.append({"type": "text", "text": part["text"]})
        elif part["type"] == "image_url":
            parts += _from_image_url(part["image_url"], at, losses)
        elif part["type"] == "input_audio":
            parts += _from_input_audio(part["input_audio"], at, losses)
        elif part["type"] != "thinking":
            losses.add(at, f"there is no part of type {part['type']}")
    return parts if parts or role == "assistant" else ""


def texts(content: Any) -> list[str]:
    """Return the texts of content of the wire, in their order."""
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content or () if part["type"] == "text"]


def thinking(message: Mapping[str, Any], position: int, losses: Losses) -> str | None:
    """Return the reasoning of an assistant message, from any field; None if it has none.

    Thinking parts of the content are always noted, since their position is lost.
    """
    flat = [message[key] for key in TEXT_KEYS if message.get(key) is not None]
    if message.get("reasoning") is not None:
        is_same = message["reasoning"] == flat[0]
        reason = "comes back as reasoning_content" if is_same else "a message has one thinking text, and it differs"
        losses.add((position, "reasoning"), reason)
    found: list[str] = []
    for number, part in enumerate(_listed(message.get("content"))):
        if part["type"] == "thinking":
            losses.add((position, "content", number), "thinking is one text of the message, not part of its content")
            found += texts(part["thinking"])
    if flat:
        return str(flat[0])
    return "".join(found) if found else None


def _listed(content: Any) -> Sequence[Mapping[str, Any]]:
    return content if isinstance(content, list) else ()


def _image(part: Mapping[str, Any], place: Place, losses: Losses) -> list[dict[str, Any]]:
    data, media, url = _source(part, place, losses)
    if url is None and media is None:
        losses.add(place, "neither mimeType nor the first bytes show the type of the image")
        return []
    return [{"type": "image_url", "image_url": {"url": url or f"data:{media};base64,{data}"}}]


def _audio(part: Mapping[str, Any], place: Place, losses: Losses) -> list[dict[str, Any]]:
    data, media, url = _source(part, place, losses)
    if url is not None:
        inner = _DATA.fullmatch(url)
        if inner is None or _URL.match(inner[2]):
            losses.add(place, "on the wire, audio has to be base64, not a URL")
            return []
        media, data = inner[1], inner[2]
    kind = _format(media) or _format(_sniffed("audio", data))
    if kind is None:
        losses.add(place, "neither mimeType nor the first bytes show the type of the audio")
        return []
    if media is not None and media != f"audio/{_named(kind)}":
        where = "mimeType" if part.get("mimeType") == media else "data"
        losses.add((*place, where), f"the wire's name for this type is {kind}")
    return [{"type": "input_audio", "input_audio": {"data": data, "format": kind}}]


def _source(part: Mapping[str, Any], place: Place, losses: Losses) -> tuple[str, str | None, str | None]:
    """Return a part's base64, its media type if known, and its URL if it has one."""
    data = part["data"]
    media = part.get("mimeType")
    if _URL.match(data):
        inner = _DATA.fullmatch(data)
        if media is not None and (inner is None or inner[1] != media):
            losses.add((*place, "mimeType"), "the type is in the URL of the data")
        return "", media, data
    if media is not None and (not media or "," in media):
        losses.add((*place, "mimeType"), "not a media type")
        media = None
    return data, media or _sniffed(part["type"], data), None


def _sniffed(kind: str, data: str) -> str | None:
    return next((media for start, media in _SIGNATURES[kind].items() if data.startswith(start)), None)


def _format(media: str | None) -> str | None:
    """Return the name on the wire for the media type of a sound."""
    kind = (media or "").removeprefix("audio/")
    return _ALIASES.get(kind, kind) if kind and media != kind else None


def _named(kind: str) -> str:
    """Return the media subtype of a sound format."""
    return "mpeg" if kind == "mp3" else kind


def _from_image_url(image: Mapping[str, Any], place: Place, losses: Losses) -> list[dict[str, Any]]:
    url = image["url"]
    if not _URL.match(url):
        losses.add(place, "not an absolute URL, so it would be read as base64")
        return []
    if "detail" in image:
        losses.add((*place, "image_url", "detail"), "an image has no such field")
    inner = _DATA.fullmatch(url)
    if inner is None or _URL.match(inner[2]):
        return [{"type": "image", "data": url}]
    return [{"type": "image", "data": inner[2], "mimeType": inner[1]}]


def _from_input_audio(audio: Mapping[str, Any], place: Place, losses: Losses) -> list[dict[str, Any]]:
    kind, data = audio["format"], audio["data"]
    if _URL.match(data):
        losses.add(place, "not base64, so it would be read as a URL")
        return []
    name = _ALIASES.get(kind, kind)
    if name != kind or not name:
        losses.add((*place, "input_audio", "format"), "no media type gives this name back")
    if not name:
        return [{"type": "audio", "data": data}]
    return [{"type": "audio", "data": data, "mimeType": f"audio/{_named(name)}"}]


def call_to_wire(ident: str, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call of the wire; its arguments are written as JavaScript does, without spaces."""
    text = orjson.dumps(arguments).decode()
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": text}}


def call_from_wire(call: Mapping[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    """Return a call with parsed arguments."""
    return {
        "id": call["id"],
        "type": "function",
        "function": {"name": call["function"]["name"], "arguments": parsed_arguments(call, place, losses)},
    }


def parsed_arguments(call: Mapping[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    """Return a call's arguments as an object, and note the losses of the call."""
    return parse_call(call, place, losses, "a call has only its function", _compact)


def _compact(value: Any) -> str:
    return orjson.dumps(value).decode()
