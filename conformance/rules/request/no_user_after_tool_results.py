from typing import Any

from conformance.results import Level
from conformance.rules import TURN, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_USER = {"/0/request/messages/-": {"role": "user", "content": "And in Rome?"}}
_REFUSED = {"results.user-after": {"status": 400, "message": "Unexpected role '{role}' after role '{other}'"}}


@rule(
    Level.MUST,
    on=requests,
    reach=TURN,
    when=lambda claimed: claimed.rejects_or_damages("results.user-after"),
    source=Source("https://github.com/avante-corp/avante.nvim/pull/2695", "Unexpected role 'user' after role 'tool'"),
    bad=[example("tool-result", _USER, _REFUSED)],
    good=[example("tool-result", claims=_REFUSED)],
    needs=("results.user-after",),
    claim="results.user-after",
)
def judge(request: Body, context: Context) -> list[Fault]:
    """No user message directly follows tool results if the provider rejects that.

    The canonical wire allows it. To fix it, let the model answer the results first, or insert a short assistant
    message.
    """
    listed: Any = request.value.get("messages")
    return [
        Fault(
            "expected an assistant message after tool results, got a user message",
            at=("messages", number),
            values={"role": "user", "other": "tool"},
        )
        for number, _ in context.messages("user")
        if number and type(listed[number - 1]) is dict and listed[number - 1].get("role") == "tool"
    ]
