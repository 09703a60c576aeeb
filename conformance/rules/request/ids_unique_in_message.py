"""Rule: no id comes twice in a message."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.index import Turn
from conformance.wire.views import tool_turns

_AGAIN = {"/0/request/messages/2/tool_calls/1/id": "call_a", "/0/request/messages/4/tool_call_id": "call_a"}
_REFUSED = {"ids.duplicate-in-message": {"status": 400, "message": "Duplicate tool call id {id} in assistant message"}}


@rule(
    Level.SHOULD,
    on=tool_turns,
    where=lambda turn, _context: len(turn.ids) > 1,
    source=Source("https://github.com/bug-ops/zeph/pull/6506", "tool_calls[].id must be unique within the request"),
    bad=[
        example("tool-result-parallel", _AGAIN),
        example("tool-result-parallel", _AGAIN, _REFUSED),
    ],
    good=[example("tool-result-parallel")],
    refused="ids.duplicate-in-message",
)
def judge(turn: Turn, _context: Context) -> list[Fault]:
    """The tool calls of one message have different ids.

    Where they do not, only the order tells which result belongs to which call. To mend it, rename the later of the
    two, in the call and in its result alike.
    """
    seen: list[object] = []
    faults = []
    for position, each in enumerate(turn.ids):
        if each and each in seen:
            message = f"expected an id that no call before it has, got {each!r:.60} again"
            values = {"id": each, "ids": each, "position": position}
            faults.append(Fault(message, at=("tool_calls", position, "id"), values=values))
        seen.append(each)
    return faults
