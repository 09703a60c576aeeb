"""Content of the wire: media as data URLs, texts as strings or parts, system messages as one prompt."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.wire.codec import Codec
from conformance.wire.losses import Losses
from conformance.wire.media import Media, image_at, media_of

AS_STRING: Final = "comes back as a string"
EMPTY_TEXT: Final = "an empty text is left out"
EMPTY_SYSTEM: Final = "an empty system prompt is left out"
AFTER_CALLS: Final = "on the wire, text comes before the calls"

_INSTRUCTION_ROLES: Final = ("system", "developer")
_SOUNDS: Final = {"wav": "audio/wav", "mp3": "audio/mp3"}


def read_media(part: dict[str, Any]) -> Media | None:
    """Return the data in a content part; None if it holds none, or not in base64."""
    if part["type"] == "input_audio":
        kind = _SOUNDS.get(part["input_audio"]["format"])
        return None if kind is None else Media(kind, part["input_audio"]["data"])
    url = part["image_url"].get("url") if part["type"] == "image_url" else part.get("file", {}).get("file_data")
    return media_of(url)


def write_media(media: Media) -> dict[str, Any]:
    """Return a content part with data in it: an image, a sound, or else a file."""
    for name, kind in _SOUNDS.items():
        if media.kind == kind:
            return {"type": "input_audio", "input_audio": {"data": media.data, "format": name}}
    if media.kind.startswith("image/"):
        return image_at(media.url)
    return {"type": "file", "file": {"file_data": media.url}}


def user_parts(content: Any, place: Place, losses: Losses, codec: Codec) -> list[dict[str, Any]]:
    """Return a user's content as the parts that a model holds; empty texts are left out."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    parts = []
    for number, part in enumerate(content):
        if part.get("text") == "":
            losses.add((*place, number), EMPTY_TEXT)
        elif (written := codec.convert(part, (*place, number), losses)) is not None:
            parts.append(written)
    return parts


def held_parts(content: Any, place: Place, losses: Losses, codec: Codec) -> Any:
    """Return what a model holds of a user's content, in its own form; a text stays a text."""
    if isinstance(content, str):
        return content
    kept = []
    for number, part in enumerate(content):
        if part.get("text") == "":
            losses.add((*place, number), EMPTY_TEXT)
        elif codec.convert(part, (*place, number), losses) is not None:
            kept.append(part)
    return kept or ""


def joined_instructions(messages: Sequence[Mapping[str, Any]], losses: Losses) -> list[dict[str, Any]]:
    """Return all system messages as the first one, for a model with one system prompt; none if there are none."""
    texts = instructions(messages, losses)
    first = next((message for message in messages if message["role"] in _INSTRUCTION_ROLES), None)
    if not texts:
        return []
    is_same = first is not None and len(texts) == 1 and first["content"] == texts[0]
    content: Any = texts[0] if is_same else [{"type": "text", "text": text} for text in texts]
    return [{"role": "system", "content": content}]


def texts_of(content: str | list[dict[str, Any]], place: Place, losses: Losses) -> list[str]:
    """Return the texts of content that can only be text; empty ones are left out."""
    if isinstance(content, str):
        return [content] if content else []
    for number, part in enumerate(content):
        if not part["text"]:
            losses.add((*place, number), EMPTY_TEXT)
    return [part["text"] for part in content if part["text"]]


def content_of(texts: list[str]) -> str | list[dict[str, Any]]:
    """Return texts as content of the wire: one is a string, several are parts, none is the empty string."""
    return [{"type": "text", "text": text} for text in texts] if len(texts) > 1 else "".join(texts)


def instructions(messages: Iterable[Mapping[str, Any]], losses: Losses) -> list[str]:
    """Return the texts of all system messages, for a model with one system prompt before everything else."""
    found: list[str] = []
    first = None
    for position, message in enumerate(messages):
        if message["role"] not in _INSTRUCTION_ROLES:
            continue
        if message["role"] != "system":
            losses.add((position, "role"), "the model has no developer role; comes back as system")
        if "name" in message:
            losses.add((position, "name"), "a system prompt has no name")
        texts = texts_of(message["content"], (position, "content"), losses)
        if not texts:
            losses.add((position,), EMPTY_SYSTEM)
        elif found or position:
            losses.add((position,), "joined with the system prompt; its position is lost")
            if found and first is not None:
                losses.add((first, "content"), "comes back joined with later instructions")
                first = None
        first = position if texts and not found else first
        found += texts
    return found
