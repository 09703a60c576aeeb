"""Rule: no parameter that nobody knows."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules._parameters import known
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFUSED = {"request.unknown-top-field": {"status": 400, "message": "Unknown parameter: '{field}'."}}


@rule(
    Level.SHOULD,
    on=requests,
    where=lambda _request, context: context.bites("request.unknown-top-field"),
    source=Source("https://github.com/openai-php/client/issues/645"),
    bad=[
        example("plain", {"/0/request/extra_body": {"top_k": 5}}, _REFUSED),
        example("plain", {"/0/request/enable_thinking": True}, _REFUSED),
    ],
    good=[
        example("plain", {"/0/request/top_k": 5}, _REFUSED),
        example("plain", {"/0/request/enable_thinking": True}, {**_REFUSED, "thinking.on": {"enable_thinking": True}}),
        example("plain", {"/0/request/extra_body": None}, _REFUSED),
    ],
    needs=("request.unknown-top-field",),
    refused="request.unknown-top-field",
)
def judge(request: Body, context: Context) -> list[Fault]:
    """A request has no parameter that is not known, where the provider refuses those.

    Known is what the API reference names, what the profile names, and what some provider documents beside thinking:
    which of the last a provider lacks is for the rule about unsupported parameters. To fix it, leave it out, or send
    what stands in `extra_body` at the top.
    """
    body = request.value
    unknown = body.keys() - known(context.claims)
    return [
        Fault(f"expected a known parameter, got {key[:40]!r}", at=(key,), values={"field": key})
        for key in body
        if key in unknown and body[key] is not None
    ]
