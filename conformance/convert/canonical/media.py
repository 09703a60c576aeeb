"""Media as data URLs, in which the wire carries them inside a message."""

import re
from typing import Any, Final, NamedTuple

_DATA: Final = re.compile(r"data:([^,]+);base64,(.*)", re.DOTALL)
_SOUNDS: Final = {"wav": "audio/wav", "mp3": "audio/mp3"}


class Media(NamedTuple):
    """Bytes in base64, and what they are."""

    kind: str
    data: str


def read(part: dict[str, Any]) -> Media | None:
    """Return the bytes that a content part carries inside; None where it carries none, or not in base64."""
    if part["type"] == "input_audio":
        kind = _SOUNDS.get(part["input_audio"]["format"])
        return None if kind is None else Media(kind, part["input_audio"]["data"])
    url = part["image_url"]["url"] if part["type"] == "image_url" else part.get("file", {}).get("file_data")
    match = _DATA.fullmatch(url or "")
    return None if match is None else Media(match[1], match[2])


def write(media: Media) -> dict[str, Any]:
    """Return a content part that carries bytes inside: an image, a sound, or else a file."""
    for name, kind in _SOUNDS.items():
        if media.kind == kind:
            return {"type": "input_audio", "input_audio": {"data": media.data, "format": name}}
    url = f"data:{media.kind};base64,{media.data}"
    if media.kind.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"file_data": url}}
