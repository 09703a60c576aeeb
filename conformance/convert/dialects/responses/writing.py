"""From the transcript to the instructions and input of Responses."""

from collections.abc import Iterator, Sequence
from typing import Any

from conformance.convert.dialects.responses.items import CALLS, DETAILS, PARTS, join, joins, write_call, write_detail
from conformance.documents.pointer import Place
from conformance.wire.blocks import Block, blocks_of, message_of, reduced
from conformance.wire.losses import Converted, Losses


def request(canonical: list[dict[str, Any]]) -> Converted:
    """Return the instructions and the input of a request: a first system message in one text, and all others."""
    losses = Losses()
    native: dict[str, Any] = {}
    items: list[dict[str, Any]] = []
    run = _Run(losses)
    for position, message in enumerate(canonical):
        role, content = message["role"], message.get("content")
        if role == "assistant":
            run.add(message, position)
            continue
        items += run.items()
        if "name" in message:
            losses.add((position, "name"), "a message item has no name")
        if not (items or native) and role == "system" and isinstance(content, str) and content:
            native["instructions"] = content
        elif role == "tool":
            output = _content(content, (position, "content"), losses)
            items.append({"type": "function_call_output", "call_id": message["tool_call_id"], "output": output})
        else:
            content = _content(content, (position, "content"), losses)
            items.append({"type": "message", "role": role, "content": content})
    items += run.items()
    return losses.converted({**native, "input": items})


def _content(content: Any, place: Place, losses: Losses) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return content
    parts = [PARTS.convert(part, (*place, number), losses) for number, part in enumerate(content)]
    return [part for part in parts if part is not None] or ""


class _Run:
    """The assistant messages that follow each other: their items have no boundary, so they come back as one."""

    __slots__ = ("_blocks", "_last", "_losses", "_refusals")

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._blocks: list[Block] = []
        self._refusals: list[str] = []
        self._last: int | None = None

    def add(self, message: dict[str, Any], position: int) -> None:
        """Add a message at a position of the transcript."""
        refusal = message.get("refusal")
        kept = reduced({**message, "refusal": None}, (position,), self._losses, DETAILS, CALLS)
        blocks = blocks_of(kept)
        if refusal == "":
            self._losses.add((position, "refusal"), "an empty refusal is left out")
        if not blocks and not refusal:
            self._losses.add((position,), "holds nothing that an item could hold")
            return
        if self._last is not None:
            self._losses.add((self._last,), "comes back joined with the assistant message after it")
            self._losses.add((position,), "comes back joined with the assistant message before it")
        self._last = position
        self._blocks += blocks
        self._refusals += [refusal] if refusal else []

    def items(self) -> list[dict[str, Any]]:
        """Return the items of the run, and begin a new one."""
        made = list(_items(blocks_of(message_of(self._blocks))))
        if self._refusals:
            refusal = {"type": "refusal", "refusal": "".join(self._refusals)}
            made.append({"type": "message", "role": "assistant", "content": [refusal]})
        self._blocks, self._refusals, self._last = [], [], None
        return made


def _items(blocks: Sequence[Block]) -> Iterator[dict[str, Any]]:
    """Yield blocks as items; what belongs to one reasoning item is joined."""
    open_item: dict[str, Any] | None = None
    for block in blocks:
        made = _item(block)
        if open_item is not None and block.kind == "detail" and joins(open_item, made):
            join(open_item, made)
            continue
        if open_item is not None:
            yield open_item
        open_item = made if block.kind == "detail" else None
        if open_item is None:
            yield made
    if open_item is not None:
        yield open_item


def _item(block: Block) -> Any:
    if block.kind == "text":
        part = {"type": "output_text", "text": block.value}
        return {"type": "message", "role": "assistant", "content": [part]}
    return (write_call if block.kind == "call" else write_detail)(block.value)
