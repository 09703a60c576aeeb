from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import body_as_sent
from conformance.rules.reasoning_claims import THINKS
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFUSED = {"status": 400, "message": "invalid {field}: only 1 is allowed for this model"}
_CLAIMS = {
    "thinking.mode": "always",
    "thinking.fixed-parameters": [{"field": "temperature", "values": [1], "thinks": True, "refusal": _REFUSED}],
}


@rule(
    Level.MUST,
    on=requests,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/completion_create_params.py",
        quote="What sampling temperature to use, between 0 and 2",
    ),
    bad=[
        example("plain", {"/0/request/temperature": 0.5}, _CLAIMS),
        example("responses-request", {"/0/request/temperature": 0.5}, _CLAIMS),
    ],
    good=[
        example("plain", {"/0/request/temperature": 1.0}, _CLAIMS),
        example("plain", {"/0/request/temperature": 0.5}, {**_CLAIMS, "thinking.mode": "never"}),
    ],
    needs=("thinking.fixed-parameters",),
    reads=THINKS,
    wires=EVERY,
    reach=BESIDE,
)
def judge(request: Body, context: Context) -> list[Fault]:
    """Parameters have values that the provider allows.

    Some models accept only certain values, such as a temperature of 1. To fix it, omit the parameter.
    """
    body = body_as_sent(request, context)
    return [
        Fault(
            f"expected {entry['field']} to be one of {entry['values']}, got {value!r:.40}",
            at=(entry["field"],),
            values={"field": entry["field"], "value": value, "model": request.exchange.model},
            verdict=entry["refusal"],
        )
        for entry in context.claim("thinking.fixed-parameters")
        if (value := body.get(entry["field"])) is not None
        and value not in entry["values"]
        and entry.get("thinks", context.thinks) is context.thinks
        and entry["refusal"] != "accepted"
    ]
