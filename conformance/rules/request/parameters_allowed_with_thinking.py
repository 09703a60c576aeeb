from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.conditions import request_thinks
from conformance.rules.reasoning_claims import THINKS
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIMS = {"thinking.mode": "always", "thinking.refused-parameters": ["temperature"]}


@rule(
    Level.MUST,
    on=requests,
    among=request_thinks,
    source=Source(
        "https://api-docs.deepseek.com/guides/thinking_mode",
        "Thinking mode does not support the temperature, presence_penalty, or frequency_penalty parameters.",
    ),
    bad=[example("plain", {"/0/request/temperature": 0.5}, _CLAIMS)],
    good=[
        example("plain", claims=_CLAIMS),
        example("plain", {"/0/request/top_p": 0.5}, _CLAIMS),
    ],
    needs=("thinking.refused-parameters",),
    reads=THINKS,
)
def judge(request: Body, context: Context) -> list[Fault]:
    """A request has no parameter that the provider rejects while the model thinks.

    To fix it, omit the parameter, or turn thinking off.
    """
    body = request.value
    return [
        Fault(f"expected no {name} while the model thinks, got {body[name]!r:.40}", at=(name,), values={"field": name})
        for name in context.claim("thinking.refused-parameters")
        if body.get(name) is not None
    ]
