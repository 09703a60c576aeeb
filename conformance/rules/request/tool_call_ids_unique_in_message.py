"""Rule: no id comes twice in a message."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_AGAIN = {"/0/request/messages/2/tool_calls/1/id": "call_a", "/0/request/messages/4/tool_call_id": "call_a"}
_REFUSED = {"ids.duplicate-in-message": {"status": 400, "message": "Duplicate tool call id {id} in assistant message"}}


@rule(
    Level.MUST,
    on=requests,
    where=lambda request, context: (
        context.claim("ids.duplicate-in-message") not in ("accepted", "ignored")
        and any(len(turn.ids) > 1 and turn.place[0] == request.place[0] for turn in context.index.turns)
    ),
    source=Source("https://github.com/bug-ops/zeph/pull/6506", "tool_calls[].id must be unique within the request"),
    bad=[
        example("tool-result-parallel", _AGAIN, _REFUSED),
        example("tool-result-parallel", _AGAIN, {"ids.duplicate-in-message": "damaged"}),
    ],
    good=[example("tool-result-parallel", claims=_REFUSED)],
    needs=("ids.duplicate-in-message",),
    refused="ids.duplicate-in-message",
)
def judge(request: Body, context: Context) -> list[Fault]:
    """The tool calls of one message have different ids, where the provider refuses or confuses equal ones.

    That they came so is the fault of the host; only the order tells which result belongs to which call. To fix it,
    rename the later of the two, in the call and in its result alike.
    """
    return [
        Fault(
            f"expected an id that no call before it has, got {each!r:.60} again",
            place=(*turn.place, "tool_calls", position, "id"),
            values={"id": each, "ids": each, "position": position},
        )
        for turn in context.index.turns
        if len(turn.ids) > 1 and turn.place[0] == request.place[0]
        for position, each in enumerate(turn.ids)
        if each and each in turn.ids[:position]
    ]
