from conformance.results import Level
from conformance.rules import ELEMENT, WITH_IDS, Context, Fault, Source, example, rule
from conformance.rules.conditions import request_has_turns
from conformance.wire.elements import Body
from conformance.wire.views import requests

_EMPTY = {"/0/request/messages/1/tool_calls/0/id": "", "/0/request/messages/2/tool_call_id": ""}
_REFUSED = {"ids.empty-in-request": {"status": 400, "message": "Invalid 'messages' in payload."}}


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    among=request_has_turns,
    when=lambda claimed: claimed.rejects_or_damages("ids.empty-in-request"),
    source=Source(
        "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/830",
        "Invalid 'messages' in payload. Please check the structure of your 'messages' and try again",
    ),
    bad=[
        example("tool-result", _EMPTY, _REFUSED),
        example("tool-result", _EMPTY, {"ids.empty-in-request": "damaged"}),
    ],
    good=[example("tool-result", claims=_REFUSED), example("tool-two-turns", claims=_REFUSED)],
    needs=("ids.empty-in-request",),
    claim="ids.empty-in-request",
    wires=WITH_IDS,
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """Tool call ids are not empty if the provider rejects empty ones.

    Some hosts reply with empty ids and then reject them; the empty id is the host's fault. To fix it, generate an id
    for such a call, and use it in the call and in its result.
    """
    return [
        Fault(
            "expected an id, got an empty string",
            place=(*turn.place, "tool_calls", position, "id"),
            values={"position": position},
        )
        for turn in context.turns
        if "" in turn.ids
        for position, each in enumerate(turn.ids)
        if each == ""
    ]
