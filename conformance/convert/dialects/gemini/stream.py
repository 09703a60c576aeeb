"""Gemini's stream put together: the reply that its chunks make."""

from typing import Any

from conformance.documents import parse_json
from conformance.errors import InvalidDocument
from conformance.wire import sse


def assembled(stream: str | list[Any]) -> dict[str, Any]:
    """Return the reply of a stream, given as the text of its events or as its chunks, or the error that ends it.

    Texts that follow each other are one, as far as no signature stands between them. Raises InvalidDocument where the
    data of an event is no JSON, or the text is no event stream.
    """
    reply: dict[str, Any] = {}
    candidates: dict[int, dict[str, Any]] = {}
    for chunk in _chunks(stream):
        if not isinstance(chunk, dict):
            continue
        if "error" in chunk:
            return chunk
        reply |= {key: value for key, value in chunk.items() if key != "candidates"}
        for candidate in _list(chunk, "candidates"):
            if isinstance(candidate, dict):
                index = candidate.get("index")
                _extend(candidates.setdefault(index if isinstance(index, int) else 0, {}), candidate)
    return {**reply, "candidates": list(candidates.values())} if candidates else reply


def _chunks(stream: str | list[Any]) -> list[Any]:
    if not isinstance(stream, str):
        return stream
    reading = sse.read(stream)
    if not reading.data and stream.strip():
        raise InvalidDocument("expected an event stream, got text without an event", "<stream>")
    return [parse_json(data, "<stream>") for data in reading.data]


def _extend(whole: dict[str, Any], candidate: dict[str, Any]) -> None:
    """Add one chunk's part of a candidate to what came before."""
    content = candidate.get("content")
    whole |= {key: value for key, value in candidate.items() if key != "content"}
    if not isinstance(content, dict):
        return
    parts = _list(whole.get("content", {}), "parts")
    for part in _list(content, "parts"):
        if parts and _is_plain(parts[-1]) and _is_plain(part) and parts[-1].get("thought") == part.get("thought"):
            parts[-1] = {**parts[-1], "text": parts[-1]["text"] + part["text"]}
        else:
            parts.append(part)
    whole["content"] = {**content, "parts": parts} if parts else content


def _list(value: dict[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    return list(found) if isinstance(found, list) else []


def _is_plain(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str) and part.keys() <= {"text", "thought"}
