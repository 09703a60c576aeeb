"""Rule: instructions come under a role that the model takes."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIMS = {"developer": "request.developer-role", "system": "request.system-role"}
_BORNE = (None, "accepted", "ignored", "unknown")
_REFUSED = {
    "status": 400,
    "message": "Unsupported value: 'messages[{index}].role' does not support '{role}' with this model.",
}
_ROLE = "/0/request/messages/0/role"


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: any(context.claims.get(name) not in _BORNE for name in _CLAIMS.values()),
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
)
def judge(request: Body, context: Context) -> list[Fault]:
    """Instructions stand under a role that the provider takes, system or developer.

    Newer OpenAI models know the role developer, most others know system alone, and early reasoning models took
    neither. To fix it, send the role that is taken; where there is none, put the text before the user's.
    """
    listed = request.value.get("messages")
    refused = [role for role, name in _CLAIMS.items() if context.claims.get(name) not in _BORNE]
    return [
        Fault(
            f"expected a role that the provider takes, got {message['role']}",
            at=("messages", position, "role"),
            values={"role": message["role"], "model": request.exchange.model},
            claim=_CLAIMS[message["role"]],
        )
        for position, message in enumerate(listed if type(listed) is list else ())
        if type(message) is dict and message.get("role") in refused
    ]
