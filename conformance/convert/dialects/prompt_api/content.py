"""Content of the Prompt API, text or parts of text, image and audio, as the content of the wire and back.

The data of an image or of a sound is a URL where it begins with a scheme, else base64. Where nothing says its type,
the type is read off its first bytes. Of the wire's messages, only a user's hold more than text.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.convert.dialects import Losses
from conformance.documents.pointer import Place
from conformance.wire.reasoning import TEXT_KEYS

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_DATA: Final = re.compile(r"data:([^,]+);base64,(.*)", re.DOTALL)

_SIGNATURES: Final = {
    "image": {"iVBORw0KGgo": "image/png", "/9j/": "image/jpeg", "UklGR": "image/webp", "R0lGOD": "image/gif"},
    "audio": {
        "UklGR": "audio/wav", "SUQz": "audio/mpeg", "//s": "audio/mpeg", "//o": "audio/mpeg", "//M": "audio/mpeg",
        "//I": "audio/mpeg", "T2dnUw": "audio/ogg", "ZkxhQw": "audio/flac",
    },
}  # fmt: skip
"""How data of a type begins in base64."""

_ALIASES: Final = {"mpeg": "mp3", "wave": "wav", "x-wav": "wav", "vnd.wave": "wav"}
"""Names of sound formats that stand for another, which is what the wire says; `mpeg` is the media type of mp3."""


def to_wire(content: Any, place: Place, role: str, losses: Losses) -> Any:
    """Return the wire's content for a message of a role; bytes become base64."""
    if isinstance(content, str):
        return content
    parts = []
    for number, part in enumerate(content):
        at = (*place, number)
        if part["type"] == "text":
            parts.append({"type": "text", "text": part["text"]})
        elif role != "user":
            losses.add(at, f"on the wire, a message of the {role} holds text alone")
        else:
            parts += _image(part, at, losses) if part["type"] == "image" else _audio(part, at, losses)
    if parts or role == "assistant":
        return parts
    if not content:
        losses.add(place, "an empty list of parts; the wire wants one at least")
    return ""


def from_wire(content: Any, place: Place, role: str, losses: Losses) -> Any:
    """Return the dialect's content for that of the wire; where no part is left, an empty text, as on the way back."""
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
            losses.add(at, f"there are no parts of type {part['type']}")
    return parts if parts or role == "assistant" else ""


def texts(content: Any) -> list[str]:
    """Return the texts of a wire's content, in their order."""
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content or () if part["type"] == "text"]


def thinking(message: Mapping[str, Any], position: int, losses: Losses) -> str | None:
    """Return what an assistant message of the wire thought, under whatever name; None where it has no reasoning.

    Thinking that stands among the parts is noted, even where it is all there is: its place is not kept.
    """
    flat = [message[key] for key in TEXT_KEYS if message.get(key) is not None]
    if message.get("reasoning") is not None:
        is_same = message["reasoning"] == flat[0]
        reason = "comes back as reasoning_content" if is_same else "there is one thinking, and that is another"
        losses.add((position, "reasoning"), reason)
    thoughts: list[str] = []
    for number, part in enumerate(_listed(message.get("content"))):
        if part["type"] == "thinking":
            losses.add((position, "content", number), "thinking is one text beside the content, it has no place in it")
            thoughts += texts(part["thinking"])
    if flat:
        return str(flat[0])
    return "".join(thoughts) if thoughts else None


def _listed(content: Any) -> Sequence[Mapping[str, Any]]:
    return content if isinstance(content, list) else ()


def _image(part: Mapping[str, Any], place: Place, losses: Losses) -> list[dict[str, Any]]:
    data, media, url = _source(part, place, losses)
    if url is None and media is None:
        losses.add(place, "neither mimeType nor the first bytes say what kind of image it is")
        return []
    return [{"type": "image_url", "image_url": {"url": url or f"data:{media};base64,{data}"}}]


def _audio(part: Mapping[str, Any], place: Place, losses: Losses) -> list[dict[str, Any]]:
    data, media, url = _source(part, place, losses)
    if url is not None:
        inner = _DATA.fullmatch(url)
        if inner is None or _URL.match(inner[2]):
            losses.add(place, "the wire takes sound as base64, not by its address")
            return []
        media, data = inner[1], inner[2]
    kind = _format(media) or _format(_sniffed("audio", data))
    if kind is None:
        losses.add(place, "neither mimeType nor the first bytes say what kind of sound it is")
        return []
    if media is not None and media != f"audio/{_named(kind)}":
        where = "mimeType" if part.get("mimeType") == media else "data"
        losses.add((*place, where), f"the wire says {kind} for this type")
    return [{"type": "input_audio", "input_audio": {"data": data, "format": kind}}]


def _source(part: Mapping[str, Any], place: Place, losses: Losses) -> tuple[str, str | None, str | None]:
    """Return a part's base64 and its media type, as far as known, or its URL in the third place."""
    given = part["data"]
    data = given if isinstance(given, str) else base64.b64encode(given).decode("ascii")
    media = part.get("mimeType")
    if _URL.match(data):
        inner = _DATA.fullmatch(data)
        if media is not None and (inner is None or inner[1] != media):
            losses.add((*place, "mimeType"), "the data's URL says what type it is")
        return "", media, data
    if media is not None and (not media or "," in media):
        losses.add((*place, "mimeType"), "not a media type")
        media = None
    return data, media or _sniffed(part["type"], data), None


def _sniffed(kind: str, data: str) -> str | None:
    return next((media for start, media in _SIGNATURES[kind].items() if data.startswith(start)), None)


def _format(media: str | None) -> str | None:
    """Return the wire's name of a sound's media type."""
    kind = (media or "").removeprefix("audio/")
    return _ALIASES.get(kind, kind) if kind and media != kind else None


def _named(kind: str) -> str:
    """Return a sound format's name within its media type."""
    return "mpeg" if kind == "mp3" else kind


def _from_image_url(image: Mapping[str, Any], place: Place, losses: Losses) -> list[dict[str, Any]]:
    url = image["url"]
    if not _URL.match(url):
        losses.add(place, "not an absolute URL, so it would be taken for base64")
        return []
    if "detail" in image:
        losses.add((*place, "image_url", "detail"), "an image does not say how closely to look")
    inner = _DATA.fullmatch(url)
    if inner is None or _URL.match(inner[2]):
        return [{"type": "image", "data": url}]
    return [{"type": "image", "data": inner[2], "mimeType": inner[1]}]


def _from_input_audio(audio: Mapping[str, Any], place: Place, losses: Losses) -> list[dict[str, Any]]:
    kind, data = audio["format"], audio["data"]
    if _URL.match(data):
        losses.add(place, "not base64, and would be taken for a URL")
        return []
    name = _ALIASES.get(kind, kind)
    if name != kind or not name:
        losses.add((*place, "input_audio", "format"), "not a name that a media type brings back")
    if not name:
        return [{"type": "audio", "data": data}]
    return [{"type": "audio", "data": data, "mimeType": f"audio/{_named(name)}"}]
