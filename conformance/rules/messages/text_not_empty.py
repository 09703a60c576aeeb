from collections.abc import Iterator
from typing import Any

from conformance.documents.pointer import Place
from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeMessage, messages
from conformance.wire.values import objects

_HOLDERS = frozenset({"text", "tool_result"})
_EMPTY = {"type": "text", "text": ""}


@rule(
    Level.MUST,
    on=messages,
    where=lambda message, _context: not _HOLDERS.isdisjoint(message.kinds) and any(_texts(message.value, ())),
    source=Source("https://platform.claude.com/docs/en/api/errors", "messages: text content blocks must be non-empty"),
    bad=[
        example("messages-plain", {"/0/request/messages/3/content/0/text": ""}),
        example("messages-result", {"/0/request/messages/2/content/0/content": [_EMPTY]}),
    ],
    good=[example("messages-session")],
    claim="content.empty-text-part",
    wires=("messages",),
    reach=ELEMENT,
)
def judge(message: NativeMessage, _context: Context) -> list[Fault]:
    """A text block has text.

    The server rejects empty text, also within a tool result; some engines send such blocks in their replies.
    To fix it, leave the block out.
    """
    return [
        Fault("expected text that is not empty, got ''", at=place, values={"index": message.number})
        for place, text in _texts(message.value, ())
        if not text
    ]


def _texts(holder: Any, place: Place) -> Iterator[tuple[Place, str]]:
    """Yield the texts of the blocks in a message, and in its tool results, each with its place."""
    for position, block in objects(holder.get("content")):
        at = (*place, "content", position)
        if block.get("type") == "text" and type(block.get("text")) is str:
            yield (*at, "text"), block["text"]
        elif block.get("type") == "tool_result":
            yield from _texts(block, at)
