"""The stream of Gemini: each chunk is a whole response whose parts continue those of the chunks before.

Source: https://ai.google.dev/gemini-api/docs/thought-signatures
"""

from typing import Any, NamedTuple

from conformance.wire.native import NativeEvent
from conformance.wire.sse import read
from conformance.wires.drafts import as_object, events_of, objects


class Assembled(NamedTuple):
    """A stream as a response. `begins`: the chunk that begins each part of the first candidate, by its position."""

    events: tuple[NativeEvent, ...]
    reply: dict[str, Any] | None
    error: dict[str, Any] | None
    begins: dict[int, int]
    complete: bool


def assemble(text: str) -> Assembled:
    """Return what the chunks of an event stream add up to."""
    return add_up(events_of(read(text)))


def add_up(events: tuple[NativeEvent, ...]) -> Assembled:
    """Return what chunks add up to: texts that follow each other join, calls and signatures stay parts of their own."""
    reply: dict[str, Any] = {}
    parts: list[dict[str, Any]] = []
    begins: dict[int, int] = {}
    error = None
    whole: dict[str, Any] = {"finishReason": None}
    for number, event in enumerate(events):
        chunk = as_object(event.value)
        if "error" in chunk:
            error = dict(chunk)
            continue
        reply |= {key: value for key, value in chunk.items() if key != "candidates"}
        _, candidate = next(objects(chunk.get("candidates")), (0, {}))
        held = [part for _, part in objects(as_object(candidate.get("content")).get("parts"))]
        for part in held:
            if not parts or not _continues(parts[-1], part):
                begins[len(parts)] = number
                parts.append(dict(part))
            else:
                parts[-1] = {**parts[-1], **part, "text": parts[-1]["text"] + part["text"]}
        whole |= {key: value for key, value in candidate.items() if key != "content"}
    whole["content"] = {"role": "model", "parts": parts}
    made = {**reply, "candidates": [whole]} if reply or parts else None
    return Assembled(events, made, error, begins, whole["finishReason"] is not None)


def _continues(last: dict[str, Any], part: Any) -> bool:
    """Return whether a text continues the one before: both are answers or reasoning, and none is signed."""
    both_text = type(last.get("text")) is str and type(part.get("text")) is str
    return both_text and last.get("thought") == part.get("thought") and "thoughtSignature" not in last
