"""Items of Responses and their parts, and their counterparts in chat completions: content parts, details, calls.

Both directions of each pair stand here, so that what does not come back is a loss. Reading takes any item that has its
type; what an item lacks, its counterpart lacks.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.wire.codec import Codec
from conformance.wire.media import IMAGE, image_at
from conformance.wire.values import as_object, objects, rendered
from conformance.wires.responses.kinds import CALLS

FORMAT: Final = "openai-responses-v1"
"""OpenRouter's name for reasoning items of OpenAI's models."""

_PREFIX: Final = "rs_"
"""How the ids of reasoning items begin."""

LOCAL: Final = "the wire has no such field"
TEXTS: Final = ("input_text", "output_text", "text", "summary_text")
_DETAILS: Final = ("auto", "low", "high")
_FILE: Final = ("file_data", "file_id", "filename")
_HELD: Final = {"reasoning.summary": "summary", "reasoning.text": "text", "reasoning.encrypted": "data"}
"""The key under which a detail holds its reasoning, by its type."""

_PIECES: Final = ("summary", "content", "encrypted_content")
"""What a reasoning item holds, in the order in which it becomes details."""


def read_part(part: Mapping[str, Any]) -> dict[str, Any] | str:
    """Return a part of an item as a content part, or the reason if there is none."""
    kind = part.get("type")
    if kind in TEXTS and "text" in part:
        return {"type": "text", "text": part["text"]}
    if kind == "input_image" and type(part.get("image_url")) is str:
        level = part.get("detail")
        return image_at(part["image_url"], level if level in _DETAILS else None)
    if kind == "input_file" and any([type(part.get(key)) is str for key in _FILE[:2]]):
        return {"type": "file", "file": {key: part[key] for key in _FILE if type(part.get(key)) is str}}
    return "the wire has no such content"


def write_part(part: Mapping[str, Any]) -> dict[str, Any] | str:
    """Return a content part as an item has it, or the reason if there is none."""
    kind = part.get("type")
    if kind == "text":
        return {**part, "type": "input_text"}
    shown, file = as_object(part.get(IMAGE)), as_object(part.get("file"))
    if kind == IMAGE and type(shown.get("url")) is str:
        renamed = {"image_url" if key == "url" else key: value for key, value in shown.items()}
        return {"type": "input_image", **renamed}
    if kind == "file" and any([type(file.get(key)) is str for key in _FILE[:2]]):
        return {"type": "input_file", **file}
    return "an item holds texts, images and files"


def whole_detail(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reasoning item as one detail: its id, its texts and its blob; what is empty is left out.

    So the judge reads it, since the server takes an item as a whole. A detail that holds nothing but an id stands for
    reasoning that the server keeps.
    """
    made: dict[str, Any] = {"type": "reasoning.summary", "format": FORMAT}
    if type(item.get("id")) is str:
        made["id"] = item["id"]
    if any(_texts(item.get("summary"))):
        made["summary"] = item["summary"]
    text = "".join(_texts(item.get("content")))
    if text:
        made |= {"type": "reasoning.text", "text": text}
    if item.get("encrypted_content"):
        made |= {"type": "reasoning.encrypted", "data": item["encrypted_content"]}
    return made


def is_empty(detail: Mapping[str, Any]) -> bool:
    """Return whether a detail of a whole item holds nothing but an id."""
    return not any([key in detail for key in ("summary", "text", "data")])


def details_of(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a reasoning item as OpenRouter has it: one detail for each text, and one for the blob.

    So a transcript has it. Of an item without any, the id remains: a summary without text. A text that has neither id
    nor blob may be any model's.
    """
    shared = {"id": item["id"]} if type(item.get("id")) is str else {}
    is_alone = True
    is_own = bool(shared or item.get("encrypted_content") or item.get("summary"))
    shared |= {"format": FORMAT} if is_own else {}
    for name, kind in (("summary", "summary"), ("content", "text")):
        for text in filter(None, _texts(item.get(name))):
            is_alone = False
            yield {"type": f"reasoning.{kind}", kind: text, **shared}
    if item.get("encrypted_content"):
        yield {"type": "reasoning.encrypted", "data": item["encrypted_content"], **shared}
    elif is_alone and "id" in shared:
        yield {"type": "reasoning.summary", "summary": "", **shared}


def reasoning_item(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Return a detail as a reasoning item as it stands, whoever's reasoning it is."""
    item: dict[str, Any] = {"type": "reasoning"}
    if type(detail.get("id")) is str:
        item["id"] = detail["id"]
    summary = detail.get("summary")
    if type(summary) is str:
        summary = [{"type": "summary_text", "text": summary}] if summary else []
    item["summary"] = summary or []
    if type(detail.get("text")) is str:
        item["content"] = [{"type": "reasoning_text", "text": detail["text"]}]
    if "data" in detail:
        item["encrypted_content"] = detail["data"]
    return item


def write_detail(detail: Mapping[str, Any]) -> dict[str, Any] | str:
    """Return a detail as a reasoning item of one piece, or the reason if the wire takes none."""
    if (detail.get("format") or _whose(detail)) != FORMAT:
        return "another model's reasoning, which OpenAI cannot read"
    key = _HELD.get(detail["type"])
    if key is None:
        return "there is no item for this kind of reasoning"
    kept = {name: detail[name] for name in ("id", key) if detail.get(name) is not None}
    if not kept.get(key) and not (key == "summary" and type(kept.get("id")) is str):
        return "empty reasoning is left out"
    return reasoning_item(kept)


def _whose(detail: Mapping[str, Any]) -> str:
    """Return the format of a detail that does not say it: nothing is signed here, and a blob has the id of its item."""
    is_blob = detail["type"] == "reasoning.encrypted" and not str(detail.get("id")).startswith(_PREFIX)
    return "unknown" if is_blob or detail.get("signature") else FORMAT


def read_detail(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reasoning item of one piece as a detail."""
    return next(details_of(item))


def joins(item: Mapping[str, Any], piece: Mapping[str, Any]) -> bool:
    """Return whether a reasoning item of one piece goes into the item before it.

    It does unless the ids differ, the item is complete, or one of them is only an id. OpenRouter gives the id of an
    item only to its blob.
    """
    own, other = item.get("id"), piece.get("id")
    if None not in (own, other) and own != other:
        return False
    held, added = _last(item), _last(piece)
    return min(held, added) >= 0 and held <= added and "encrypted_content" not in item


def join(item: dict[str, Any], piece: Mapping[str, Any]) -> None:
    """Add a further piece to a reasoning item, in place: an item may have many."""
    for key in ("id", "encrypted_content"):
        if key in piece:
            item.setdefault(key, piece[key])
    item["summary"] = [*item["summary"], *piece["summary"]]
    if "content" in piece:
        item["content"] = [*item.get("content", ()), *piece["content"]]


def _last(item: Mapping[str, Any]) -> int:
    """Return which piece is the last one of a reasoning item; below 0 if it has none."""
    return max([at for at, name in enumerate(_PIECES) if item.get(name)], default=-1)


def _texts(steps: Any) -> Iterator[str]:
    for _, step in objects(steps):
        if type(step.get("text")) is str:
            yield step["text"]


def read_call(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call; the text that a custom tool is called with stands under a key of its own, as in its definition."""
    key = CALLS[item["type"]]
    arguments = item.get(key)
    if key == "input":
        arguments = rendered({"input": arguments})
    call = {"type": "function", "function": {"name": item.get("name"), "arguments": arguments}}
    return call | ({"id": item["call_id"]} if "call_id" in item else {})


def write_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call as an item; `item_id` is the id of the item itself, which only this wire has."""
    function = as_object(call.get("function"))
    item = {"type": "function_call", "name": function.get("name"), "arguments": function.get("arguments")}
    item |= {"id": call["item_id"]} if "item_id" in call else {}
    return item | ({"call_id": call["id"]} if "id" in call else {})


def name_of(item: Mapping[str, Any]) -> Any:
    """Return the name of a function, within its namespace if it has one.

    A function that is declared by itself and found by tool search is called in a namespace of its own name.
    """
    name, space = item.get("name"), item.get("namespace")
    return f"{space}.{name}" if type(space) is str and space not in ("", name) and type(name) is str else name


PARTS: Final = Codec(write_part, read_part, "a part of an item has no such field")
READ_PARTS: Final = Codec(read_part, write_part, LOCAL)
DETAILS: Final = Codec(write_detail, read_detail, "a reasoning item has no such field")
WRITTEN_CALLS: Final = Codec(write_call, read_call, "a function call has no such field")
