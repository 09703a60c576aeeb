"""Items of Responses, their parts, and their counterparts on the wire."""

from collections.abc import Iterator
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.wire.codec import Codec
from conformance.wire.content import EMPTY_TEXT
from conformance.wire.losses import Losses

FORMAT: Final = "openai-responses-v1"
"""OpenRouter's name for reasoning items of OpenAI's models."""

LOCAL: Final = "the wire has no such field"
_DETAILS: Final = ("auto", "low", "high")
_FILE: Final = ("file_data", "file_id", "filename")
_HELD: Final = {"reasoning.summary": "summary", "reasoning.text": "text", "reasoning.encrypted": "data"}
"""The key under which a detail holds its reasoning, by its type."""

_PIECES: Final = ("summary", "content", "encrypted_content")
"""What a reasoning item holds, in the order in which it becomes details."""


def write_part(part: dict[str, Any]) -> dict[str, Any] | str:
    """Return a content part as an item has it, or the reason if there is none."""
    match part["type"]:
        case "text":
            return {"type": "input_text", "text": part["text"]}
        case "image_url":
            return {"type": "input_image", **_renamed(part["image_url"], "url", "image_url")}
        case "file":
            return {"type": "input_file", **part["file"]}
    return "an item holds no audio"


def read_part(part: dict[str, Any]) -> dict[str, Any] | str:
    """Return a part of an item as a content part of the wire, or the reason if there is none."""
    match part:
        case {"type": "input_text", "text": text}:
            return {"type": "text", "text": text}
        case {"type": "input_image", "image_url": str(url)}:
            level = {"detail": part["detail"]} if part.get("detail") in _DETAILS else {}
            return {"type": "image_url", "image_url": {"url": url, **level}}
        case {"type": "input_file"} if any(isinstance(part.get(key), str) for key in _FILE[:2]):
            return {"type": "file", "file": {key: part[key] for key in _FILE if isinstance(part.get(key), str)}}
    return "the wire has no such content"


def _renamed(value: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if key == old else key: each for key, each in value.items()}


def write_detail(detail: dict[str, Any]) -> dict[str, Any] | str:
    """Return a reasoning detail as a reasoning item of one piece, or the reason if there is none."""
    if detail.get("format") not in (None, FORMAT):
        return "another model's reasoning, which OpenAI cannot read"
    key = _HELD.get(detail["type"])
    if key is None:
        return "there is no item for this kind of reasoning"
    held = detail.get(key)
    identity = {"id": detail["id"]} if isinstance(detail.get("id"), str) else {}
    item: dict[str, Any] = {"type": "reasoning", **identity, "summary": []}
    if not held:
        return item if identity and key == "summary" else "empty reasoning is left out"
    if key == "data":
        return item | {"encrypted_content": held}
    if key == "summary":
        return item | {"summary": [{"type": "summary_text", "text": held}]}
    return item | {"content": [{"type": "reasoning_text", "text": held}]}


def read_detail(item: dict[str, Any]) -> dict[str, Any]:
    """Return a reasoning item of one piece as a detail."""
    return next(details_of(item))


def details_of(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the details of a reasoning item: one for each text, and one for the blob.

    An item of which only the id is there stands for one that the server keeps: a summary without text.
    """
    shared = {"id": item["id"]} if isinstance(item.get("id"), str) else {}
    shared["format"] = FORMAT
    texts = [(name, part["text"]) for name in _PIECES[:2] for part in item.get(name) or () if part["text"]]
    for name, text in texts:
        kind = "summary" if name == "summary" else "text"
        yield {"type": f"reasoning.{kind}", kind: text, **shared}
    if item.get("encrypted_content"):
        yield {"type": "reasoning.encrypted", "data": item["encrypted_content"], **shared}
    elif not texts and "id" in shared:
        yield {"type": "reasoning.summary", "summary": "", **shared}


def note_reasoning(item: dict[str, Any], place: Place, losses: Losses) -> None:
    """Note what of a reasoning item is not among its details."""
    for key, value in item.items():
        if key not in ("type", "id", *_PIECES) and value is not None:
            losses.add((*place, key), LOCAL)
    for name, kind in (("summary", "summary_text"), ("content", "reasoning_text")):
        for number, part in enumerate(item.get(name) or ()):
            at = (*place, name, number)
            if not part["text"]:
                losses.add(at, EMPTY_TEXT)
                continue
            if part["type"] != kind:
                losses.add((*at, "type"), f"comes back as {kind}")
            for key in part.keys() - {"type", "text"}:
                losses.add((*at, key), LOCAL)
    if item.get("encrypted_content") == "":
        losses.add((*place, "encrypted_content"), "an empty blob is left out")


def joins(item: dict[str, Any], piece: dict[str, Any]) -> bool:
    """Return whether a reasoning item of one piece goes into the item before it.

    It does unless the ids differ, the item is complete, or one of them is only an id. OpenRouter gives the id of an
    item only to its blob.
    """
    own, other = item.get("id"), piece.get("id")
    if None not in (own, other) and own != other:
        return False
    held, added = _last(item), _last(piece)
    return min(held, added) >= 0 and held <= added and "encrypted_content" not in item


def join(item: dict[str, Any], piece: dict[str, Any]) -> None:
    """Add a further piece to a reasoning item, in place: an item may have many."""
    for key in ("id", "encrypted_content"):
        if key in piece:
            item.setdefault(key, piece[key])
    item["summary"] += piece["summary"]
    if "content" in piece:
        item.setdefault("content", []).extend(piece["content"])


def _last(item: dict[str, Any]) -> int:
    """Return which piece is the last one of a reasoning item; below 0 if it has none."""
    return max((at for at, name in enumerate(_PIECES) if item.get(name)), default=-1)


def write_call(call: dict[str, Any]) -> dict[str, Any]:
    """Return a tool call as an item."""
    function = call["function"]
    return {
        "type": "function_call",
        "call_id": call["id"],
        "name": function["name"],
        "arguments": function["arguments"],
    }


def read_call(item: dict[str, Any]) -> dict[str, Any]:
    """Return a function call as a tool call."""
    function = {"name": item["name"], "arguments": item["arguments"]}
    return {"id": item["call_id"], "type": "function", "function": function}


PARTS: Final = Codec(write_part, read_part, "a part of an item has no such field")
READ_PARTS: Final = Codec(read_part, write_part, LOCAL)
DETAILS: Final = Codec(write_detail, read_detail, "a reasoning item has no such field")
CALLS: Final = Codec(write_call, read_call, "a function call has no such field")
READ_CALLS: Final = Codec(read_call, write_call, LOCAL)
