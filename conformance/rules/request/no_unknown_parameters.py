from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.parameters import NAMING, known
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFUSED = {"request.unknown-top-field": {"status": 400, "message": "Unknown parameter: '{field}'."}}


@rule(
    Level.SHOULD,
    on=requests,
    where=lambda _request, context: context.rejects_or_damages("request.unknown-top-field"),
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
    claim="request.unknown-top-field",
    reads=NAMING,
)
def judge(request: Body, context: Context) -> list[Fault]:
    """A request has only known parameters if the provider rejects unknown ones.

    Known are the parameters of the API reference, and those that the profile names. Another rule covers parameters that
    the provider is known to reject. To fix it, omit the parameter, or send the contents of `extra_body` at the top
    level.
    """
    body = request.value
    unknown = body.keys() - known(context.claims)
    return [
        Fault(f"expected a known parameter, got {key[:40]!r}", at=(key,), values={"field": key})
        for key in body
        if key in unknown and body[key] is not None
    ]
