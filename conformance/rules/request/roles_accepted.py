from conformance.results import Level
from conformance.rules import ELEMENT, Claimed, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIMS = {"developer": "request.developer-role", "system": "request.system-role"}
_REFUSED = {
    "status": 400,
    "message": "Unsupported value: 'messages[{index}].role' does not support '{role}' with this model.",
}
_ROLE = "/0/request/messages/0/role"


def _rejected(claimed: Claimed) -> list[str]:
    return [role for role, name in _CLAIMS.items() if claimed.rejects_or_damages(name)]


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    when=lambda claimed: bool(_rejected(claimed)),
    source=Source(
        "https://github.com/pydantic/pydantic-ai/blob/4fda38988/tests/models/cassettes/test_openai/"
        "test_openai_o1_mini_system_role%5Bsystem%5D.yaml",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    ),
    bad=[
        example("plain", claims={"request.system-role": _REFUSED}),
        example("plain", {_ROLE: "developer"}, {"request.developer-role": _REFUSED}),
    ],
    good=[
        example("plain", claims={"request.developer-role": _REFUSED}),
        example("plain", {_ROLE: "developer"}, {"request.developer-role": "accepted", "request.system-role": _REFUSED}),
    ],
    reads=tuple(_CLAIMS.values()),
)
def judge(request: Body, context: Context) -> list[Fault]:
    """Instructions have a role that the provider accepts: system or developer.

    Newer OpenAI models accept developer, most others accept only system, and early reasoning models accepted neither.
    To fix it, send the accepted role; if there is none, put the text before the user's.
    """
    return [
        Fault(
            f"expected a role that the provider accepts, got {message['role']}",
            at=("messages", position, "role"),
            values={"role": message["role"], "model": request.exchange.model},
            claim=_CLAIMS[message["role"]],
        )
        for position, message in context.messages(*context.derived(_rejected))
    ]
