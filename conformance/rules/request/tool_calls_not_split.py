"""Rule: one message an answer."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_BEFORE = {"/0/request/messages/0": {"role": "assistant", "content": "Let me look."}}
_REFUSED = {"request.calls-after-assistant": {"status": 400, "message": "Unexpected role '{role}' after '{other}'"}}


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: context.claim("request.calls-after-assistant") not in ("accepted", "ignored"),
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("tool-result", _BEFORE, _REFUSED)],
    good=[example("tool-result", claims=_REFUSED)],
    needs=("request.calls-after-assistant",),
    refused="request.calls-after-assistant",
)
def judge(request: Body, context: Context) -> list[Fault]:
    """Tool calls do not stand in a second assistant message behind another, where that is refused.

    To fix it, send what the model said and what it called in one message, as it came.
    """
    listed = request.value.get("messages")
    return [
        Fault(
            "expected another role before an assistant message with calls, got an assistant message",
            place=turn.place,
            values={"role": "assistant", "other": "assistant"},
        )
        for turn in context.index.turns
        if turn.place[0] == request.place[0]
        and turn.number
        and type(listed) is list
        and type(listed[turn.number - 1]) is dict
        and listed[turn.number - 1].get("role") == "assistant"
    ]
