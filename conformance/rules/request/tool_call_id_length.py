from conformance.results import Level
from conformance.rules import ELEMENT, WITH_IDS, Context, Fault, Source, example, rule
from conformance.rules.conditions import request_has_turns
from conformance.wire.elements import Body
from conformance.wire.views import requests

_LONG = "call_" + 36 * "x"
_EDITS = {"/0/request/messages/1/tool_calls/0/id": _LONG, "/0/request/messages/2/tool_call_id": _LONG}
_CLAIM = {
    "ids.input-max-length": {
        "limit": 40,
        "refusal": {
            "status": 400,
            "message": "Invalid 'messages[{index}].tool_calls[{position}].id': string too long. Expected a string "
            "with maximum length {limit}, but got a string with length {length} instead.",
        },
    },
}


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    among=request_has_turns,
    when=lambda claimed: claimed.rejects_or_damages("ids.input-max-length"),
    source=Source("https://github.com/vercel/ai/issues/8132", "string too long. Expected a string with maximum length"),
    bad=[example("tool-result", _EDITS, _CLAIM)],
    good=[example("tool-result", claims=_CLAIM), example("tool-result-parallel", claims=_CLAIM)],
    needs=("ids.input-max-length",),
    claim="ids.input-max-length",
    wires=WITH_IDS,
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """Tool call ids are not longer than the provider accepts.

    Ids of other hosts are longer than some providers allow, above all those with a prefix and two UUIDs. To fix it, map
    the ids of a history to short ones when you switch models, in calls and results alike.
    """
    limit = context.claim("ids.input-max-length")["limit"]
    return [
        Fault(
            f"expected an id of at most {limit} characters, got one of {len(each)}",
            place=(*turn.place, "tool_calls", position, "id"),
            values={"id": each, "length": len(each), "limit": limit, "position": position},
        )
        for turn in context.turns
        for position, each in enumerate(turn.ids)
        if type(each) is str and len(each) > limit
    ]
