from collections.abc import Iterator
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.index import Index
from conformance.wire.native_views import NativeBody, in_messages, requests
from conformance.wire.values import objects

_CLAIM = "messages.cache-marks-over-4"
_MOST: Final = 4
_TEXT = "A maximum of 4 blocks with cache_control may be provided. Found {count}."
_REFUSED = {_CLAIM: {"status": 400, "message": _TEXT}}
_MARKED = {"type": "text", "text": "Hi.", "cache_control": {"type": "ephemeral"}}


@rule(
    Level.MUST,
    on=requests,
    where=lambda request, context: any(True for _ in _marks(request.value, context.index, context.number)),
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source(
        "https://github.com/griffinmartin/opencode-claude-auth/issues/121",
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    bad=[example("messages-plain", {"/0/request/system": [_MARKED] * 5}, _REFUSED)],
    good=[example("messages-plain", {"/0/request/system": [_MARKED] * 4}, _REFUSED)],
    needs=(_CLAIM,),
    claim=_CLAIM,
    wires=("messages",),
)
def judge(request: NativeBody, context: Context) -> list[Fault]:
    """At most four blocks of a request have `cache_control`.

    Agents that mark the last messages of each turn, and keep the marks of earlier ones, soon have more. To fix it, mark
    the tools, the system prompt and the last message or two, and remove the marks of earlier turns.
    """
    places = list(_marks(request.value, context.index, context.number))
    if len(places) <= _MOST:
        return []
    # The earliest mark in a message is the one that has done its work.
    at = next((place for place in places if place[0] == "messages"), places[_MOST])
    return [
        Fault(
            f"expected at most {_MOST} blocks with cache_control, got {len(places)}", at, values={"count": len(places)}
        )
    ]


def _marks(body: Any, index: Index, number: int) -> Iterator[Place]:
    """Yield the place of each mark: in tools, the system prompt, and blocks of messages and of results."""
    for key in ("tools", "system"):
        for at, block in objects(body.get(key)):
            if block.get("cache_control") is not None:
                yield (key, at, "cache_control")
    for position, places in in_messages(index, number, _in_message):
        yield from [("messages", position, *place) for place in places]


def _in_message(message: Any) -> list[Place]:
    return list(_in_blocks(message, ())) if type(message) is dict else []


def _in_blocks(holder: Any, place: Place) -> Iterator[Place]:
    for at, block in objects(holder.get("content")):
        inside = (*place, "content", at)
        if block.get("cache_control") is not None:
            yield (*inside, "cache_control")
        if block.get("type") == "tool_result":
            yield from _in_blocks(block, inside)
