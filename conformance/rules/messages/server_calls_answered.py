from collections.abc import Iterator, Mapping
from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeMessage, special_messages
from conformance.wire.values import as_object, as_word, objects

_RESULT = "_tool_result"
_CALLS = ("server_tool_use", "mcp_tool_use")
_CALL = {"type": "server_tool_use", "id": "srvtoolu_01", "name": "web_search", "input": {"query": "Paris"}}
_FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_01", "content": []}
_AT = "/0/request/messages/3/content"
_TEXT = {"type": "text", "text": "Paris has 18 degrees."}


def _is_ended(message: NativeMessage, _context: Context) -> bool:
    """Return whether the turn of a message with server calls is over, so that no result can come any more."""
    if message.value.get("role") != "assistant" or message.kinds.isdisjoint(_CALLS):
        return False
    later = _from(message, message.number + 1)
    return any(each.get("role") == "user" and _has_more_than_results(each) for each in later)


@rule(
    Level.MUST,
    on=special_messages,
    where=_is_ended,
    source=Source(
        "https://github.com/anthropics/anthropic-sdk-python/issues/1339",
        "was found without a corresponding `web_search_tool_result` block",
    ),
    bad=[example("messages-plain", {_AT: [_CALL, _TEXT]})],
    good=[
        example("messages-plain", {_AT: [_CALL, _FOUND, _TEXT]}),
    ],
    claim="messages.server-call-unanswered",
    wires=("messages",),
)
def judge(message: NativeMessage, _context: Context) -> list[Fault]:
    """The call of a server tool has its result before the user says more.

    A reply that pauses ends with an open call, which the server answers when it is sent back as the last message. With
    a new user message behind it, or with the result dropped as an unknown block, it stays open and every later request
    is rejected. To fix it, send a paused reply back first, keep both blocks of a server tool, or drop both.
    """
    # One message after the other: results stand in the same one as a rule, however long the history is.
    open_calls = {as_word(call.get("id")) for _, call in _calls(message.value)}
    for each in _from(message, message.number):
        if not open_calls:
            return []
        blocks = [block for _, block in objects(each.get("content"))]
        open_calls -= {
            as_word(block.get("tool_use_id")) for block in blocks if as_word(block.get("type")).endswith(_RESULT)
        }
    return [
        Fault(
            f"expected the result of the server tool's call {call.get('id')!r} before the next user message, got none",
            ("content", at),
            values={"id": call.get("id"), "name": call.get("name"), "index": message.number, "position": at},
        )
        for at, call in _calls(message.value)
        if as_word(call.get("id")) in open_calls
    ]


def _from(message: NativeMessage, start: int) -> Iterator[Mapping[str, Any]]:
    """Yield the messages of the same request from a position on."""
    return (as_object(message.siblings[at]) for at in range(start, len(message.siblings)))


def _calls(message: Mapping[str, Any]) -> list[tuple[int, Mapping[str, Any]]]:
    content = message.get("content")
    listed = objects(content) if type(content) is list else ()
    return [(at, block) for at, block in listed if block.get("type") in _CALLS]


def _has_more_than_results(message: Any) -> bool:
    content = message.get("content")
    return type(content) is str or any([block.get("type") != "tool_result" for _, block in objects(content)])
