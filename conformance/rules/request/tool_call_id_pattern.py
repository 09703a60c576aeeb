from conformance import linear
from conformance.results import Level
from conformance.rules import ELEMENT, WITH_IDS, Context, Fault, Source, example, rule
from conformance.rules.conditions import request_has_turns
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIM = {
    "ids.input-pattern": {
        "pattern": "[a-zA-Z0-9]{9}",
        "refusal": {"status": 400, "message": "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9."},
    },
}
_RIGHT = {"/0/request/messages/1/tool_calls/0/id": "D681PevKs", "/0/request/messages/2/tool_call_id": "D681PevKs"}


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    among=request_has_turns,
    when=lambda claimed: claimed.rejects_or_damages("ids.input-pattern"),
    source=Source(
        "https://github.com/editor-code-assistant/eca/issues/233",
        "Tool call id was 2968-LWy3uasib but must be a-z, A-Z, 0-9, with a length of 9.",
    ),
    bad=[example("tool-result", claims=_CLAIM)],
    good=[example("tool-result", _RIGHT, _CLAIM)],
    needs=("ids.input-pattern",),
    claim="ids.input-pattern",
    wires=WITH_IDS,
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """Tool call ids match the pattern that the provider requires.

    A history that began at another host has ids in that host's format. To fix it, map them to ids that match when you
    switch models, in calls and results alike.
    """
    pattern = context.claim("ids.input-pattern")["pattern"]
    return [
        Fault(
            f"expected an id that matches {pattern}, got {each!r:.60}",
            place=(*turn.place, "tool_calls", position, "id"),
            values={"id": each, "length": len(each), "position": position},
        )
        for turn in context.turns
        for position, each in enumerate(turn.ids)
        if type(each) is str and each and not linear.fits(pattern, each)
    ]
