"""Rule: no id comes twice in a request."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIM = {
    "ids.duplicate-in-request": {"status": 400, "message": "Invalid request: tool call id {id} is duplicated"},
}
_AGAIN = {"/0/request/messages/3/tool_calls/0/id": "call_a", "/0/request/messages/4/tool_call_id": "call_a"}


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: (
        bool(context.index.turns) and context.claim("ids.duplicate-in-request") not in ("accepted", "ignored")
    ),
    source=Source(
        "https://github.com/openclaw/openclaw/pull/51155", "Invalid request: tool call id write:XXX is duplicated"
    ),
    bad=[
        example("tool-two-turns", _AGAIN, _CLAIM),
        example("tool-two-turns", _AGAIN, {"ids.duplicate-in-request": "damaged"}),
    ],
    good=[example("tool-two-turns", claims=_CLAIM)],
    needs=("ids.duplicate-in-request",),
    refused="ids.duplicate-in-request",
)
def judge(request: Body, context: Context) -> list[Fault]:
    """The ids of a request's tool calls differ from message to message.

    Hosts that number calls anew in each reply bring the same id again, and others look ids up over the whole request.
    To fix it, rename the later of the two, in the call and in its result alike.
    """
    number = request.place[0]
    turns = [turn for turn in context.index.turns if turn.place[0] == number]
    ids = [each for turn in turns for each in turn.ids if type(each) is str]
    if len(set(ids)) == len(ids):
        return []
    first: dict[str, int] = {}
    faults = []
    for turn in turns:
        for position, each in enumerate(turn.ids):
            earlier = first.setdefault(each, turn.number) if type(each) is str and each else turn.number
            if earlier != turn.number:
                message = f"expected an id that no earlier message has, got {each!r:.60} as in message {earlier}"
                values = {"id": each, "ids": each, "other": earlier, "position": position}
                faults.append(Fault(message, place=(*turn.place, "tool_calls", position, "id"), values=values))
    return faults
