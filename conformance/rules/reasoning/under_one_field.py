"""Rule: not twice where that is refused."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.reasoning import TEXT_KEYS
from conformance.wire.views import requests

_BOTH = {"/2/request/messages/5/reasoning": "Rome is warm; Oslo is left."}
_REFUSED = {"reasoning.input.both": {"status": 400, "message": "messages.{index}: both are set"}}


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: (
        context.bites("reasoning.input.both") and not any(context.bites(f"reasoning.input.{key}") for key in TEXT_KEYS)
    ),
    source=Source("https://github.com/agentjido/req_llm/issues/772"),
    bad=[example("thinking-session", _BOTH, _REFUSED)],
    good=[example("thinking-session", claims=_REFUSED)],
    needs=("reasoning.input.both",),
    refused="reasoning.input.both",
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """An assistant message carries its reasoning under one name, where the provider refuses both.

    Where it refuses one of them anyhow, another rule says so. To fix it, send the name that the profile claims to be
    read.
    """
    listed = request.value.get("messages")
    return [
        Fault(
            "expected the reasoning under one name, got it under both",
            at=("messages", number, "reasoning"),
            values={"role": "assistant", "field": "reasoning"},
        )
        for number, message in enumerate(listed if type(listed) is list else ())
        if type(message) is dict and message.get("role") == "assistant" and all(message.get(name) for name in TEXT_KEYS)
    ]
