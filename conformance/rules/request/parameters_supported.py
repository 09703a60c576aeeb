from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import body_as_sent
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIM = {
    "request.unsupported-fields": [
        {"field": "stop", "refusal": {"status": 400, "message": "'{field}' is not supported with this model."}},
        {"field": "logprobs", "refusal": "ignored"},
    ]
}

_TOP_K = {"request.unsupported-fields": [{"field": "top_k", "refusal": {"status": 400}}]}


@rule(
    Level.MUST,
    on=requests,
    source=Source(
        "https://github.com/charmbracelet/crush/issues/386", "Argument not supported on this model: reasoningEffort"
    ),
    bad=[
        example("plain", {"/0/request/stop": ["."]}, _CLAIM),
        example("plain", {"/0/request/logprobs": True}, _CLAIM),
        example("messages-plain", {"/0/request/top_k": 40}, _TOP_K),
    ],
    good=[
        example("plain", claims=_CLAIM),
        example("plain", {"/0/request/stop": None}, _CLAIM),
    ],
    needs=("request.unsupported-fields",),
    wires=EVERY,
    reach=BESIDE,
)
def judge(request: Body, context: Context) -> list[Fault]:
    """A request has no parameter that the provider is known to reject.

    Other providers accept it, so it comes from a client that was written for them. To fix it, omit the parameter.
    """
    body = body_as_sent(request, context)
    return [
        Fault(
            f"expected no {field}, got {body[field]!r:.40}",
            at=(field,),
            values={"field": field, "value": body[field], "model": request.exchange.model},
            verdict=entry["refusal"],
        )
        for entry in context.claim("request.unsupported-fields")
        if body.get(field := entry["field"]) is not None
    ]
