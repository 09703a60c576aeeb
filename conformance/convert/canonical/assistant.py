"""An assistant's message as blocks in order, which is how other models hold it.

The wire keeps text, calls and reasoning under three keys. Calls follow the text there; the place of each reasoning
block among the others is the `index` of its detail, and one unsigned block at the front is plain `reasoning_content`.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from conformance.convert.canonical.held import AS_STRING, Codec, content_of, passed
from conformance.convert.dialects import Losses
from conformance.documents.pointer import Place
from conformance.wire.reasoning import TEXT_KEYS


class Block(NamedTuple):
    """A text, a tool call as the wire has it, or a detail of the reasoning."""

    kind: Literal["text", "call", "detail"]
    value: Any


def gather(blocks: Sequence[Block]) -> dict[str, Any]:
    """Return the wire's message of some blocks; a text that stands after a call comes before it (see `displaced`)."""
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


def displaced(blocks: Iterable[Block]) -> list[int]:
    """Return the positions of the texts that stand after a call, a place that the wire has no word for."""
    called, found = False, []
    for position, block in enumerate(blocks):
        called = called or block.kind == "call"
        if called and block.kind == "text":
            found.append(position)
    return found


def spread(message: dict[str, Any]) -> list[Block]:
    """Return a message's blocks in order: reasoning where its indexes say, or else before everything."""
    content = message.get("content") or ""
    words = [content] if isinstance(content, str) else [part["text"] for part in content]
    rest = [Block("text", text) for text in words if text]
    rest += [Block("call", call) for call in message.get("tool_calls", ())]
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


def reduced(message: dict[str, Any], place: Place, losses: Losses, details: Codec, calls: Codec) -> dict[str, Any]:
    """Return what a model can hold of an assistant's message, ready to be spread; the rest is noted."""
    words, thoughts = _content(message.get("content"), (*place, "content"), losses)
    for key in ("refusal", "name", "audio"):
        if message.get(key) is not None:
            losses.add((*place, key), "an assistant's message has no such thing there")
    result = {"role": "assistant", "content": content_of(words)}
    kept = _details(message.get("reasoning_details") or (), (*place, "reasoning_details"), losses, details)
    result |= {"reasoning_details": list(kept.values())} if kept else {}
    result |= _plain(message, place, losses, details, thoughts, has_details=bool(kept))
    made = []
    for number, call in enumerate(message.get("tool_calls", ())):
        if passed(call, (*place, "tool_calls", number), losses, calls) is not None:
            made.append(call)
    if made:
        result["tool_calls"] = made
    _compare(kept, gather(spread(result)), (*place, "reasoning_details"), losses)
    return result


def _is_plain(details: list[dict[str, Any]]) -> bool:
    return len(details) == 1 and details[0].keys() - {"format"} == {"type", "text", "index"} and not details[0]["index"]


def _precedes(details: list[dict[str, Any]], position: int) -> bool:
    """Tell whether a detail has no greater index than the one before it."""
    return position > 0 and bool(details[position]["index"] <= details[position - 1]["index"])


def _content(content: Any, place: Place, losses: Losses) -> tuple[list[str], list[str]]:
    """Return the texts of an assistant's content, and its thinking where that stands among them."""
    if isinstance(content, str):
        return [content], []
    words, thoughts = [], []
    for number, part in enumerate(content or ()):
        if part["type"] == "thinking":
            thoughts.append("".join(piece.get("text", "") for piece in part["thinking"]))
            losses.add((*place, number), "thinking does not stand among the content")
        elif not part.get("text"):
            losses.add((*place, number), "an empty text is none" if "text" in part else "an assistant says text there")
        else:
            words.append(part["text"])
    if len(words) == 1:
        losses.add(place, AS_STRING)
    return words, thoughts


def _details(details: Iterable[dict[str, Any]], place: Place, losses: Losses, codec: Codec) -> dict[int, Any]:
    """Return the details that a model can hold, by their number."""
    kept = {}
    for number, detail in enumerate(details):
        written = passed(detail, (*place, number), losses, codec)
        if written is not None:
            index = {"index": detail["index"]} if detail.get("index") is not None else {}
            kept[number] = {**codec.read(written), **index}
    return kept


def _plain(
    message: dict[str, Any],
    place: Place,
    losses: Losses,
    codec: Codec,
    thoughts: list[str],
    *,
    has_details: bool,
) -> dict[str, Any]:
    """Return the reasoning that is one text, under the one name that it has hereafter."""
    given = [key for key in TEXT_KEYS if message.get(key) is not None]
    for key in given if has_details else given[1:]:
        losses.add((*place, key), "the same reasoning stands beside it")
    if has_details or not (given or thoughts):
        return {}
    text = message[given[0]] if given else "".join(thoughts)
    written = codec.write({"type": "reasoning.text", "text": text})
    if isinstance(written, str):
        losses.add((*place, given[0] if given else "content"), written)
        return {}
    if given == ["reasoning"]:
        losses.add((*place, "reasoning"), "comes back as reasoning_content")
    return {"reasoning_content": text}


def _compare(kept: dict[int, Any], back: dict[str, Any], place: Place, losses: Losses) -> None:
    """Note reasoning that comes back under another key, or at another index."""
    if kept and "reasoning_content" in back:
        losses.add(place, "one unsigned block comes back as reasoning_content")
        return
    for (number, detail), other in zip(kept.items(), back.get("reasoning_details", ()), strict=True):
        if "index" in detail and detail["index"] != other["index"]:
            losses.add((*place, number, "index"), "counts the blocks as they stand there")
