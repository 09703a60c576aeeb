from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeMessage, special_messages
from conformance.wire.values import objects

_THINKING = ("thinking", "redacted_thinking")
_TURN = "/0/request/messages/1/content"
_BLOCK = {"type": "thinking", "thinking": "Two cities, two calls.", "signature": "c2lnbmVkLTE="}
_CALL = {"type": "tool_use", "id": "toolu_01", "name": "get_weather", "input": {"city": "Paris"}}


def _applies(message: NativeMessage, _context: Context) -> bool:
    """Return whether this is the assistant message of the open tool turn, in manual mode, and has thinking at all."""
    request = message.native.request
    mode = request.get("thinking")
    is_manual = type(mode) is dict and mode.get("type") == "enabled"
    return (
        is_manual
        and message.value.get("role") == "assistant"
        and not message.kinds.isdisjoint(_THINKING)
        and _is_open(message)
    )


@rule(
    Level.MUST,
    on=special_messages,
    where=_applies,
    source=Source(
        "https://platform.claude.com/docs/en/build-with-claude/thinking",
        "a final `assistant` message must start with a thinking block",
    ),
    bad=[example("messages-result", {f"{_TURN}/0": _CALL, f"{_TURN}/1": _BLOCK})],
    good=[example("messages-session")],
    claim="messages.thinking-not-first",
    wires=("messages",),
)
def judge(message: NativeMessage, _context: Context) -> list[Fault]:
    """In manual mode, the assistant message of an open tool turn begins with its thinking.

    The server checks only where thinking is turned on with a budget; in adaptive mode nothing has to come first.
    To fix it, send the blocks of a reply back in the order in which they came.
    """
    first = _of(message)[0]
    if _thinks(first):
        return []
    kind = first.get("type") if type(first) is dict else None
    values = {"index": message.number, "kind": kind}
    return [Fault(f"expected a thinking block first, got a block of type {kind!r}", at=("content", 0), values=values)]


def _of(message: NativeMessage) -> list[Any]:
    content = message.value.get("content")
    return content if type(content) is list else []


def _thinks(block: Any) -> bool:
    return type(block) is dict and block.get("type") in _THINKING


def _is_open(message: NativeMessage) -> bool:
    """Return whether only results follow, so that the model is still in this turn."""
    later = message.siblings[message.number + 1 :]
    blocks = [block for each in later if type(each) is dict for _, block in objects(each.get("content"))]
    return bool(blocks) and all([each.get("type") == "tool_result" for each in blocks])
