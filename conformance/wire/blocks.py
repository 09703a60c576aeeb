"""An assistant message as a list of blocks, which is how other models hold it.

The wire has text, calls and reasoning under three keys. Calls follow the text there; the position of a reasoning block
among the others is the `index` of its detail, and one unsigned block at the front is `reasoning_content`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.codec import Codec
from conformance.wire.content import AFTER_CALLS, AS_STRING, EMPTY_TEXT, content_of
from conformance.wire.losses import Losses
from conformance.wire.reasoning import TEXT_KEYS


class Block(NamedTuple):
    """A piece of a message in its order: a text, a call as the wire has it, a reasoning detail.

    Of a user, it is a content part or the result of a call, as a message of its own. `place`: where it comes from.
    """

    kind: Literal["text", "call", "detail", "part", "result"]
    value: Any
    place: Place = ()


def message_of(blocks: Sequence[Block]) -> dict[str, Any]:
    """Return the message of the wire for some blocks; texts after a call move before it (see `note_moved_texts`)."""
    calls = [block.value for block in blocks if block.kind == "call"]
    message: dict[str, Any] = {
        "role": "assistant",
        "content": content_of([block.value for block in blocks if block.kind == "text"]),
    }
    details = [{**block.value, "index": place} for place, block in enumerate(blocks) if block.kind == "detail"]
    if _is_plain(details):
        message["reasoning_content"] = details[0]["text"]
    elif details:
        message["reasoning_details"] = details
    if calls:
        message["tool_calls"] = calls
    return message


def note_moved_texts(blocks: Sequence[Block], losses: Losses) -> None:
    """Note each text that comes after a call, an order that the wire cannot hold, and the reasoning beside it."""
    first = next((at for at, block in enumerate(blocks) if block.kind == "call"), len(blocks))
    behind = [at for at in range(first, len(blocks)) if blocks[at].kind != "call"]
    if any(blocks[at].kind == "text" for at in behind):
        for place in dict.fromkeys([blocks[at].place for at in behind]):
            losses.add(place, AFTER_CALLS)


def blocks_of(message: Mapping[str, Any]) -> list[Block]:
    """Return the blocks of a message in order: reasoning at its indexes if they are consistent, or else first.

    Nothing is repaired: a part of the content that is not a text stays a part.
    """
    content = message.get("content") or ""
    parts = [{"text": content}] if isinstance(content, str) else content
    rest = [_said(part) for part in parts if part.get("text") != ""]
    rest += [Block("call", call) for call in message.get("tool_calls") or ()]
    details = message.get("reasoning_details") or []
    if (plain := message.get("reasoning_content")) is not None:
        details = [{"type": "reasoning.text", "text": plain}]
    placed = list(rest)
    for position, detail in enumerate(details):
        index = detail.get("index")
        if type(index) is not int or not (position <= index <= len(placed)) or _precedes(details, position):
            return [Block("detail", detail) for detail in details] + rest
        placed.insert(index, Block("detail", detail))
    return placed


def _said(part: Mapping[str, Any]) -> Block:
    return Block("text", part["text"]) if isinstance(part.get("text"), str) else Block("part", part)


def reduced(message: Mapping[str, Any], place: Place, losses: Losses, details: Codec, calls: Codec) -> dict[str, Any]:
    """Return what a model can hold of an assistant message, for `blocks_of`; the rest is noted as lost."""
    texts, thinking = _content(message.get("content"), (*place, "content"), losses)
    for key in ("refusal", "name", "audio"):
        if message.get(key) is not None:
            losses.add((*place, key), "an assistant message has no such field there")
    result = {"role": "assistant", "content": content_of(texts)}
    given = message.get("reasoning_details") or ()
    kept = _details(given, (*place, "reasoning_details"), losses, details)
    result |= {"reasoning_details": list(kept.values())} if kept else {}
    result |= _plain(message, place, losses, details, thinking, has_details=bool(kept))
    made = []
    for number, call in enumerate(message.get("tool_calls", ())):
        if calls.convert(call, (*place, "tool_calls", number), losses) is not None:
            made.append(call)
    if made:
        result["tool_calls"] = made
    indexes = {number: given[number].get("index") for number in kept}
    _note_moved_details(indexes, message_of(blocks_of(result)), (*place, "reasoning_details"), losses)
    return result


def _is_plain(details: list[dict[str, Any]]) -> bool:
    return len(details) == 1 and details[0].keys() == {"type", "text", "index"} and not details[0]["index"]


def _precedes(details: list[dict[str, Any]], position: int) -> bool:
    """Return whether the index of a detail is not greater than that of the one before it."""
    return position > 0 and bool(details[position]["index"] <= details[position - 1]["index"])


def _content(content: Any, place: Place, losses: Losses) -> tuple[list[str], list[str]]:
    """Return the texts of an assistant's content, and the thinking parts among them."""
    if isinstance(content, str):
        return [content], []
    texts, thinking = [], []
    for number, part in enumerate(content or ()):
        if part["type"] == "thinking":
            thinking.append("".join(step.get("text", "") for step in part["thinking"]))
            losses.add((*place, number), "thinking is not part of the content there")
        elif not part.get("text"):
            losses.add((*place, number), EMPTY_TEXT if "text" in part else "the content of an assistant is text there")
        else:
            texts.append(part["text"])
    if len(texts) == 1:
        losses.add(place, AS_STRING)
    return texts, thinking


def _details(details: Iterable[dict[str, Any]], place: Place, losses: Losses, codec: Codec) -> dict[int, Any]:
    """Return the details that a model can hold, by their position; their indexes are those without the others."""
    kept: dict[int, Any] = {}
    for number, detail in enumerate(details):
        written = codec.convert(detail, (*place, number), losses)
        if written is not None:
            missing, index = number - len(kept), detail.get("index")
            kept[number] = {**codec.read(written), **({} if index is None else {"index": max(index - missing, 0)})}
    return kept


def _plain(
    message: Mapping[str, Any],
    place: Place,
    losses: Losses,
    codec: Codec,
    thinking: list[str],
    *,
    has_details: bool,
) -> dict[str, Any]:
    """Return reasoning that is one text, under its one canonical name."""
    given = [key for key in TEXT_KEYS if message.get(key) is not None]
    for key in given if has_details else given[1:]:
        losses.add((*place, key), "the same reasoning is in another field")
    if has_details or not (given or thinking):
        return {}
    text = message[given[0]] if given else "".join(thinking)
    written = codec.write({"type": "reasoning.text", "text": text})
    if isinstance(written, str):
        losses.add((*place, given[0] if given else "content"), written)
        return {}
    if given == ["reasoning"]:
        losses.add((*place, "reasoning"), "comes back as reasoning_content")
    return {"reasoning_content": text}


def _note_moved_details(indexes: dict[int, Any], back: dict[str, Any], place: Place, losses: Losses) -> None:
    """Note reasoning that comes back under another key or at another index; `indexes` are those that it had."""
    if indexes and "reasoning_content" in back:
        losses.add(place, "one unsigned block comes back as reasoning_content")
        return
    for (number, index), other in zip(indexes.items(), back.get("reasoning_details", ()), strict=True):
        if index not in (None, other["index"]):
            losses.add((*place, number, "index"), "comes back as the position among the blocks there")
