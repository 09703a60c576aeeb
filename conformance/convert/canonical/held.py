"""What a model can hold of a transcript, found by writing each piece and reading it back."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from conformance.convert.dialects import Losses
from conformance.documents.pointer import Place

AS_STRING: Final = "comes back as a string"

_INSTRUCTING: Final = ("system", "developer")


class Codec(NamedTuple):
    """The way of one kind of piece into a model and back; a piece that has none is written as the reason why."""

    write: Callable[[dict[str, Any]], dict[str, Any] | str]
    read: Callable[[dict[str, Any]], Any]
    reason: str


def passed(given: dict[str, Any], place: Place, losses: Losses, codec: Codec) -> dict[str, Any] | None:
    """Return a piece as the model holds it, or None; what of it does not come back is noted."""
    written = codec.write(given)
    if isinstance(written, str):
        losses.add(place, written)
        return None
    back = codec.read(written)
    for at in differing(given, back if isinstance(back, dict) else {}, place):
        losses.add(at, codec.reason)
    return written


def differing(given: dict[str, Any], back: dict[str, Any], place: Place) -> Iterator[Place]:
    """Yield the place of each key whose value does not come back; null is the same as absent, an index is no value."""
    for key, value in given.items():
        other = back.get(key)
        if value is None or value == other or key == "index":
            continue
        if isinstance(value, dict) and isinstance(other, dict):
            yield from differing(value, other, (*place, key))
        else:
            yield (*place, key)


def user_parts(content: Any, place: Place, losses: Losses, codec: Codec) -> list[dict[str, Any]]:
    """Return a user's content as the parts that a model holds; empty texts are none."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    parts = []
    for number, part in enumerate(content):
        if part.get("text") == "":
            losses.add((*place, number), "an empty text is none")
        elif (written := passed(part, (*place, number), losses, codec)) is not None:
            parts.append(written)
    return parts


def texts(content: str | list[dict[str, Any]], place: Place, losses: Losses) -> list[str]:
    """Return content that can only be text as its texts; empty ones are none."""
    if isinstance(content, str):
        return [content] if content else []
    for number, part in enumerate(content):
        if not part["text"]:
            losses.add((*place, number), "an empty text is none")
    return [part["text"] for part in content if part["text"]]


def content_of(words: list[str]) -> str | list[dict[str, Any]]:
    """Return texts as content of the wire: one is a string, several are parts, none is the empty string."""
    return [{"type": "text", "text": text} for text in words] if len(words) > 1 else "".join(words)


def instructions(messages: Iterable[dict[str, Any]], losses: Losses) -> list[str]:
    """Return the texts of all system messages, for a model that has one system prompt before everything."""
    found: list[str] = []
    first = None
    for position, message in enumerate(messages):
        if message["role"] not in _INSTRUCTING:
            continue
        if message["role"] != "system":
            losses.add((position, "role"), "the model has one kind of instructions; comes back as system")
        if "name" in message:
            losses.add((position, "name"), "a system prompt has no name")
        words = texts(message["content"], (position, "content"), losses)
        if not words:
            losses.add((position,), "an empty system prompt is none")
        elif found or position:
            losses.add((position,), "joined with the system prompt; its place is not kept")
            if found and first is not None:
                losses.add((first, "content"), "comes back together with later instructions")
                first = None
        first = position if words and not found else first
        found += words
    return found
