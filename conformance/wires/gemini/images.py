"""Images: inline with their data, or at a URL that shows their type, which this wire names beside it."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import urlsplit

from conformance.wire.media import Media, address_of, image_at
from conformance.wires.drafts import as_object
from conformance.wires.gemini.names import of_either

_KINDS: Final[Mapping[str, str]] = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".heic": "image/heic",
}
_IMAGE: Final = "image/"


def image_part(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a content part with an image as this wire has it; None if it has no form for it."""
    address = address_of(part)
    if isinstance(address, Media):
        is_image = address.kind.startswith(_IMAGE)
        return {"inlineData": {"mimeType": address.kind, "data": address.data}} if is_image else None
    kind = _kind_of(address)
    return {"fileData": {"mimeType": kind, "fileUri": address}} if kind else None


def read_image(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a part with an image as a content part of chat completions; None if that would not say the same."""
    inline, file = as_object(of_either(part, "inlineData")), as_object(of_either(part, "fileData"))
    kind, data = of_either(inline, "mimeType"), inline.get("data")
    if type(kind) is str and type(data) is str and kind.startswith(_IMAGE):
        return image_at(Media(kind, data).url)
    url = of_either(file, "fileUri")
    if type(url) is str and _kind_of(url) and of_either(file, "mimeType") == _kind_of(url):
        return image_at(url)
    return None


def _kind_of(url: str) -> str:
    """Return the media type that a URL shows; empty if it shows none."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    return _KINDS.get(PurePosixPath(path).suffix.lower(), "")
