"""The event stream that adds up to a reply of Responses.

Source: https://platform.openai.com/docs/api-reference/responses-streaming

As at OpenAI, the encrypted content of an item that is added is not whole yet: a client has to take that of the item
that is done.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.wire.native import NativeEvent
from conformance.wire.values import objects

_PIECE: Final = 12
"""How many characters a delta holds."""

_ENDS: Final[Mapping[Any, str]] = {"incomplete": "response.incomplete", "failed": "response.failed"}


def events(reply: Mapping[str, Any]) -> Iterator[NativeEvent]:
    """Yield the events of the stream that adds up to a reply, numbered from 0."""
    for number, value in enumerate(_values(reply)):
        yield NativeEvent(value["type"], {**value, "sequence_number": number})


def _values(reply: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    unknown = dict.fromkeys([key for key in ("completed_at", "incomplete_details", "usage") if key in reply])
    begun = {**reply, **unknown, "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in objects(reply.get("output")):
        yield {"type": "response.output_item.added", "output_index": index, "item": _begun(item)}
        about = {"item_id": item.get("id"), "output_index": index}
        for value in _inside(item):
            yield {"type": value["type"], **about, **value}
        yield {"type": "response.output_item.done", "output_index": index, "item": dict(item)}
    yield {"type": _ENDS.get(reply.get("status"), "response.completed"), "response": dict(reply)}


def _begun(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item as it is when it is added: without its text."""
    begun = dict(item)
    begun |= {key: [] for key in ("content", "summary") if key in begun}
    begun |= {key: "" for key in ("arguments", "input") if type(begun.get(key)) is str}
    begun |= {"status": "in_progress"} if "status" in begun else {}
    blob = begun.get("encrypted_content")
    return begun | ({"encrypted_content": blob[: len(blob) // 2]} if type(blob) is str else {})


def _inside(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events between the beginning and the end of an item."""
    for index, part in objects(item.get("summary")):
        at = {"summary_index": index}
        yield {"type": "response.reasoning_summary_part.added", **at, "part": {**part, "text": ""}}
        yield from _text("response.reasoning_summary_text", "text", part["text"], at)
        yield {"type": "response.reasoning_summary_part.done", **at, "part": dict(part)}
    for index, part in objects(item.get("content")):
        at = {"content_index": index}
        if part["type"] == "reasoning_text":
            yield from _text("response.reasoning_text", "text", part["text"], at)
        else:
            yield from _part(part, at)
    if type(item.get("arguments")) is str:
        yield from _text("response.function_call_arguments", "arguments", item["arguments"], {})
    if item.get("type") == "custom_tool_call":
        yield from _text("response.custom_tool_call_input", "input", str(item.get("input")), {})


def _part(part: Mapping[str, Any], at: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of a content part of a message."""
    key = "refusal" if part["type"] == "refusal" else "text"
    more: dict[str, Any] = {"logprobs": []} if key == "text" else {}
    yield {"type": "response.content_part.added", **at, "part": {**part, key: ""}}
    yield from _text("response.refusal" if key == "refusal" else "response.output_text", key, part[key], {**at, **more})
    yield {"type": "response.content_part.done", **at, "part": dict(part)}


def _text(family: str, key: str, text: str, at: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the deltas of a text, and the text at their end."""
    for piece in _pieces(text):
        yield {"type": f"{family}.delta", **at, "delta": piece}
    yield {"type": f"{family}.done", **at, key: text}


def _pieces(text: str) -> Sequence[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
