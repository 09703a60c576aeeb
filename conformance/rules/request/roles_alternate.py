from itertools import pairwise
from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIM = {
    "request.successive-same-role": {
        "status": 400,
        "message": "deepseek-reasoner does not support successive user or assistant messages (messages[{index}] and "
        "messages[{other}] in your input).",
    },
}
_MESSAGE = "/0/request/messages/2"


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: claimed.rejects_or_damages("request.successive-same-role"),
    source=Source(
        "https://github.com/open-webui/open-webui/issues/9266",
        "You should interleave the user/assistant messages in the message sequence.",
    ),
    bad=[
        example("request-plain-turns", {_MESSAGE: {"role": "user", "content": "Hello?"}}, _CLAIM),
        example("request-plain-turns", {"/0/request/messages/3/role": "assistant"}, _CLAIM),
    ],
    good=[
        example("request-plain-turns", claims=_CLAIM),
        example("tool-result-parallel", claims=_CLAIM),
    ],
    needs=("request.successive-same-role",),
    claim="request.successive-same-role",
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """User and assistant messages alternate if the provider requires it.

    Results of parallel calls are exempt. To fix it, join consecutive messages of the same role.
    """
    listed = request.value.get("messages")
    roles = [_role(each) for each in listed] if type(listed) is list else []
    return [
        Fault(
            f"expected another role after this message, got {role} again",
            at=("messages", position),
            values={"role": role, "other": position + 1},
        )
        for position, (role, following) in enumerate(pairwise(roles))
        if role == following and role in ("user", "assistant")
    ]


def _role(message: Any) -> Any:
    return message.get("role") if type(message) is dict else None
