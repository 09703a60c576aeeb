from conformance.results import Level
from conformance.rules import WITH_IDS, Context, Fault, Source, example, rule
from conformance.rules.conditions import request_has_turns
from conformance.wire.elements import Body, Call
from conformance.wire.reuse import described, is_same_call
from conformance.wire.views import requests

_CLAIM = {
    "ids.duplicate-in-request": {"status": 400, "message": "Invalid request: tool call id {id} is duplicated"},
}
_AGAIN = {"/0/request/messages/3/tool_calls/0/id": "call_a", "/0/request/messages/4/tool_call_id": "call_a"}


@rule(
    Level.MUST,
    on=requests,
    among=request_has_turns,
    when=lambda claimed: claimed.rejects_or_damages("ids.duplicate-in-request"),
    source=Source(
        "https://github.com/openclaw/openclaw/pull/51155", "Invalid request: tool call id write:XXX is duplicated"
    ),
    bad=[
        example("tool-two-turns", _AGAIN, _CLAIM),
        example("tool-two-turns", _AGAIN, {"ids.duplicate-in-request": "damaged"}),
    ],
    good=[example("tool-two-turns", claims=_CLAIM)],
    needs=("ids.duplicate-in-request",),
    claim="ids.duplicate-in-request",
    wires=WITH_IDS,
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """Tool call ids differ from message to message if the provider rejects or confuses equal ones.

    Hosts that number the calls of each reply from 0 repeat ids, and others look ids up in the whole request. To fix it,
    rename the later of the two, in the call and in its result.
    """
    if not context.sent_ids.repeats:
        return []
    first: dict[str, tuple[int, Call]] = {}
    faults = []
    for turn in context.turns:
        for call in turn.calls:
            # An empty or missing id counts as new, because another rule reports it.
            new = turn.number, call
            earlier, other = first.setdefault(call.id, new) if type(call.id) is str and call.id else new
            if earlier != turn.number:
                used = f"got {call.id!r:.60}, which message {earlier} has for {_of_other(other, call)}"
                values = {"id": call.id, "ids": call.id, "other": earlier, "position": call.position}
                place = (*turn.place, "tool_calls", call.position, "id")
                message = f"expected an id that is new in this request, {used}"
                faults.append(Fault(message, place=place, values=values))
    return faults


def _of_other(other: Call, call: Call) -> str:
    """Return what else has the id of a call, in words."""
    return "the same call" if is_same_call(other, call) else f"another call, {described(other)}"
