from collections.abc import Iterator, Mapping
from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, kinds_in, requests
from conformance.wire.values import as_word, objects

_CLAIM = "messages.server-result-orphaned"
_RESULT, _CALLS = "_tool_result", ("server_tool_use", "mcp_tool_use")
_CALL = {"type": "server_tool_use", "id": "srvtoolu_01", "name": "web_search", "input": {"query": "Paris"}}
_FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_01", "content": []}
_ADVICE = {"type": "advisor_tool_result", "tool_use_id": "srvtoolu_01", "content": {"type": "advisor_result"}}
_AT = "/0/request/messages/3/content"
_TEXT = {"type": "text", "text": "Paris has 18 degrees."}


def _has_results(_request: NativeBody, context: Context) -> bool:
    # The result of a client's tool is a bare `tool_result`, which does not end so.
    return any([kind.endswith(_RESULT) for kind in kinds_in(context.index, context.number)])


@rule(
    Level.MUST,
    on=requests,
    where=_has_results,
    source=Source(
        "https://github.com/anthropics/claude-code/issues/64383",
        "Each `advisor_tool_result` block must have a corresponding `server_tool_use` block before it.",
    ),
    bad=[
        example("messages-plain", {_AT: [_FOUND, _TEXT]}),
        example("messages-plain", {_AT: [_ADVICE, _TEXT]}),
        example("messages-plain", {_AT: [_FOUND, _CALL, _TEXT]}),
    ],
    good=[example("messages-plain", {_AT: [_CALL, _FOUND, _TEXT]})],
    claim=_CLAIM,
    wires=("messages",),
)
def judge(request: NativeBody, _context: Context) -> list[Fault]:
    """The result of a server tool stands behind the call that it answers.

    The server ran the tool within its reply, so both blocks are in one assistant message. A client that keeps only the
    blocks that it knows, or cuts a history between them, leaves the result alone, and every later request is rejected.
    To fix it, keep both blocks of a server tool, or drop both.
    """
    called: set[Any] = set()
    faults = []
    for message, position, kind, block in _blocks(request):
        if kind in _CALLS:
            called.add(as_word(block.get("id")))
        elif kind.endswith(_RESULT) and as_word(block.get("tool_use_id")) not in called:
            answered = block.get("tool_use_id")
            values = {"id": answered, "kind": kind, "index": message, "position": position}
            at = ("messages", message, "content", position, "tool_use_id")
            faults.append(
                Fault(f"expected the call {answered!r} of a server tool before its {kind}, got none", at, values=values)
            )
    return faults


def _blocks(request: NativeBody) -> Iterator[tuple[int, int, str, Mapping[str, Any]]]:
    """Yield the blocks of a request's messages, each with the position of its message, its own, and its type."""
    for message, each in objects(request.value.get("messages")):
        for position, block in objects(each.get("content")):
            yield message, position, as_word(block.get("type")), block
