"""From the input, replies and event streams of Responses to the transcript."""

from typing import Any, Final

from conformance.convert.dialects.responses.items import (
    LOCAL,
    READ_CALLS,
    READ_PARTS,
    details_of,
    join,
    joins,
    note_reasoning,
    read_call,
    write_detail,
)
from conformance.documents.pointer import Place
from conformance.errors import InvalidDocument
from conformance.wire.arguments import encode
from conformance.wire.blocks import Block, message_of, note_moved_texts
from conformance.wire.content import AS_STRING, EMPTY_SYSTEM, EMPTY_TEXT
from conformance.wire.losses import Converted, Losses
from conformance.wires.responses.stream import assemble

_STATE: Final = ("previous_response_id", "conversation", "prompt")
_AT_SERVER: Final = "stands for what only the server has"
_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")
_TEXTS: Final = ("output_text", "input_text", "text")
_LOGS: Final = ("annotations", "logprobs")


def transcript(native: dict[str, Any]) -> Converted:
    """Return the transcript of a request or a reply; empty for any other body."""
    losses = Losses()
    held = ("output",) if "output" in native else ("instructions", "input")
    for key, value in native.items():
        if key not in held and value is not None:
            losses.add((key,), _AT_SERVER if key in _STATE else "a transcript holds only messages")
    reader = _Reader(losses)
    if "output" not in native:
        reader.instruct(native.get("instructions"))
    given = native.get(held[-1])
    if isinstance(given, str):
        losses.add(("input",), "comes back as an item")
        reader.add({"role": "user", "content": given}, ("input",))
    else:
        for position, item in enumerate(given or ()):
            reader.add(item, (held[-1], position))
    reader.end()
    return losses.converted(reader.found)


class _Reader:
    """Reads one item after the other; neighbouring ones of the assistant are one message."""

    __slots__ = ("_blocks", "_last", "_losses", "_places", "_refusals", "found")

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._blocks: list[Block] = []
        self._places: list[Place] = []
        self._refusals: list[tuple[str, Place, int]] = []
        self._last: dict[str, Any] | None = None
        self.found: list[dict[str, Any]] = []

    def instruct(self, text: str | None) -> None:
        """Add the instructions of a request."""
        if text:
            self.found.append({"role": "system", "content": text})
        elif text is not None:
            self._losses.add(("instructions",), EMPTY_SYSTEM)

    def add(self, item: dict[str, Any], place: Place) -> None:
        """Add an item that is at a place."""
        kind = item.get("type", "message")
        if kind == "message" and item["role"] == "assistant":
            self._say(item, place)
        elif kind == "message":
            self._ask(item, place)
        elif kind == "reasoning":
            self._think(item, place)
        elif kind == "function_call":
            self._put(Block("call", READ_CALLS.convert(item, place, self._losses)), place)
        elif kind == "custom_tool_call":
            self._losses.add(place, "comes back as the call of a function, with the input as its only argument")
            called = {"call_id": item["call_id"], "name": item["name"], "arguments": encode({"input": item["input"]})}
            self._put(Block("call", read_call(called)), place)
        elif kind in _OUTPUTS:
            self._answer(item, place)
        elif kind == "item_reference":
            self._losses.add(place, _AT_SERVER)
        else:
            self._losses.add(place, "the wire has messages, reasoning, and calls of functions")

    def end(self) -> None:
        """End the message of the assistant, if there is one."""
        if self._blocks or self._refusals:
            self._note_order()
            made = message_of(self._blocks)
            if self._refusals:
                made["refusal"] = "".join([text for text, _, _ in self._refusals])
            self.found.append(made)
        self._blocks, self._places, self._refusals, self._last = [], [], [], None

    def _note_order(self) -> None:
        """Note what comes back at another place: texts behind calls, and refusals before the end."""
        note_moved_texts(self._blocks, self._places, self._losses)
        for _, place, before in self._refusals:
            if len(self._refusals) > 1 or before < len(self._blocks):
                self._losses.add(place, "a message has one refusal, which comes last")

    def _put(self, block: Block, place: Place) -> None:
        self._blocks.append(block)
        self._places.append(place)
        self._last = None

    def _ask(self, item: dict[str, Any], place: Place) -> None:
        """Add a message of a user, or one with instructions."""
        self.end()
        self._note_fields(item, ("type", "role", "content"), place)
        content = self._content(item["content"], (*place, "content"), is_text=item["role"] != "user")
        if not self.found and item["role"] == "system" and isinstance(content, str) and content:
            self._losses.add(place, "comes back as the instructions")
        self.found.append({"role": item["role"], "content": content})

    def _answer(self, item: dict[str, Any], place: Place) -> None:
        self.end()
        if item["type"] != _OUTPUTS[0]:
            self._losses.add((*place, "type"), f"comes back as {_OUTPUTS[0]}")
        self._note_fields(item, ("type", "call_id", "output"), place)
        content = self._content(item["output"], (*place, "output"), is_text=True)
        self.found.append({"role": "tool", "tool_call_id": item["call_id"], "content": content})

    def _content(self, content: str | list[dict[str, Any]], place: Place, *, is_text: bool) -> Any:
        """Return content as the wire has it; of parts, only those of text if it can only be text."""
        if isinstance(content, str):
            return content
        if not content:
            self._losses.add(place, AS_STRING)
        parts = []
        for number, part in enumerate(content):
            at = (*place, number)
            if is_text and part["type"] not in _TEXTS:
                self._losses.add(at, "on the wire, instructions and results are text")
                continue
            given = {**part, "type": "input_text"} if part["type"] in _TEXTS else part
            if given["type"] != part["type"]:
                self._losses.add((*at, "type"), "comes back as input_text")
            if (written := READ_PARTS.convert(given, at, self._losses)) is not None:
                parts.append(written)
        return parts or ""

    def _say(self, item: dict[str, Any], place: Place) -> None:
        """Add a message of the assistant: each of its texts is a message of its own when it comes back."""
        self._note_fields(item, ("type", "role", "content"), place)
        content, at = item["content"], (*place, "content")
        if isinstance(content, str):
            self._losses.add(at, "comes back as a part")
            content = [{"type": "output_text", "text": content}]
            places: list[Place] = [at]
        else:
            places = [(*at, number) for number in range(len(content))]
        is_first = True
        for part, within in zip(content, places, strict=True):
            is_first &= not self._part(part, within, place, is_first=is_first)
        if is_first:
            self._losses.add(place, "an empty message is left out")

    def _part(self, part: dict[str, Any], place: Place, item: Place, *, is_first: bool) -> bool:
        """Add a part of the message that is at `item`; return whether there was anything to add."""
        kind = part["type"]
        if kind == "refusal" and part["refusal"]:
            self._refusals.append((part["refusal"], item, len(self._blocks)))
        elif kind in _TEXTS and part["text"]:
            self._put(Block("text", part["text"]), item)
        else:
            self._losses.add(place, EMPTY_TEXT if kind in (*_TEXTS, "refusal") else "the wire has no such content")
            return False
        if not is_first:
            self._losses.add(place, "comes back as a message of its own")
        elif kind in _TEXTS[1:]:
            self._losses.add((*place, "type"), f"comes back as {_TEXTS[0]}")
        for key, value in part.items():
            if key not in ("type", "text", "refusal") and value is not None and not (key in _LOGS and value == []):
                self._losses.add((*place, key), LOCAL)
        return True

    def _think(self, item: dict[str, Any], place: Place) -> None:
        note_reasoning(item, place, self._losses)
        details = list(details_of(item))
        pieces: list[Any] = [write_detail(detail) for detail in details]
        if not pieces:
            self._losses.add(place, "a reasoning item without id, text and blob is left out")
            return
        whole, *pieces = pieces
        if self._last is not None and joins(self._last, whole):
            self._losses.add(place, "comes back in one item with the reasoning before it")
            pieces.insert(0, whole)
            whole = self._last
        for piece in pieces:
            join(whole, piece)
        for detail in details:
            self._put(Block("detail", detail), place)
        self._last = whole

    def _note_fields(self, item: dict[str, Any], held: tuple[str, ...], place: Place) -> None:
        for key, value in item.items():
            if key not in held and value is not None:
                self._losses.add((*place, key), LOCAL)


def assembled(text: str) -> dict[str, Any]:
    """Return the reply of an event stream, or the error that ends it; an empty object if it has neither.

    Raises InvalidDocument if the text is not an event stream.
    """
    made = assemble(text)
    if not made.events and text.strip():
        raise InvalidDocument("expected events, got text without any", "<stream>")
    if made.error is not None:
        _, event = made.error
        return {"error": event.get("error", event)}
    return made.reply or {}
