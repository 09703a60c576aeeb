from conformance.results import Level
from conformance.rules import TURN, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_BEFORE = {"/0/request/messages/0": {"role": "assistant", "content": "Let me look."}}
_REFUSED = {"request.calls-after-assistant": {"status": 400, "message": "Unexpected role '{role}' after '{other}'"}}


@rule(
    Level.MUST,
    on=requests,
    reach=TURN,
    when=lambda claimed: claimed.rejects_or_damages("request.calls-after-assistant"),
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("tool-result", _BEFORE, _REFUSED)],
    good=[example("tool-result", claims=_REFUSED)],
    needs=("request.calls-after-assistant",),
    claim="request.calls-after-assistant",
)
def judge(request: Body, context: Context) -> list[Fault]:
    """Tool calls are not split across consecutive assistant messages.

    The rule applies if the provider rejects that. To fix it, send the text and the calls of a reply in one message, as
    received.
    """
    listed = request.value.get("messages")
    return [
        Fault(
            "expected another role before a message with tool calls, got assistant",
            place=turn.place,
            values={"role": "assistant", "other": "assistant"},
        )
        for turn in context.turns
        if turn.number
        and type(listed) is list
        and type(listed[turn.number - 1]) is dict
        and listed[turn.number - 1].get("role") == "assistant"
    ]
