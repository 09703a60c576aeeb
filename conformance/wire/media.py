"""Images in content: parts of chat completions, and data in base64 inside a URL."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

IMAGE: Final = "image_url"
"""The type of a content part with an image, and its key for what it shows."""

_DATA: Final = "data:"
_DATA_URL: Final = re.compile(r"data:([^,]+);base64,(.*)", re.DOTALL)


class Media(NamedTuple):
    """Data in base64, and its media type."""

    kind: str
    data: str

    @property
    def url(self) -> str:
        """Return the data URL."""
        return f"{_DATA}{self.kind};base64,{self.data}"


def media_of(url: Any) -> Media | None:
    """Return the data in a URL; None if it holds none, or not in base64."""
    match = _DATA_URL.fullmatch(url) if isinstance(url, str) else None
    return None if match is None else Media(match[1], match[2])


def address_of(part: Mapping[str, Any]) -> Media | str:
    """Return what a part with an image shows: its data, or the URL where it is; an empty text if it shows neither."""
    shown = part.get(IMAGE)
    url = shown.get("url") if part.get("type") == IMAGE and isinstance(shown, dict) else None
    if not isinstance(url, str):
        return ""
    return media_of(url) or ("" if url.startswith(_DATA) else url)


def image_at(url: str, detail: Any = None) -> dict[str, Any]:
    """Return a content part with an image; `detail` is the resolution that the client asks for, if it does."""
    asked = {"detail": detail} if isinstance(detail, str) else {}
    return {"type": IMAGE, IMAGE: {"url": url, **asked}}
