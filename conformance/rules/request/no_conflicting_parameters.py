"""Rule: parameters do not exclude each other."""

from conformance import profiles
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_BOTH = [{"at": "/max_tokens", "present": True}, {"at": "/max_completion_tokens", "present": True}]
_REFUSED = {"status": 400, "message": "Setting 'max_tokens' and 'max_completion_tokens' at the same time is wrong."}
_CLAIM = {"request.conflicts": [{"when": _BOTH, "verdict": _REFUSED}]}


@rule(
    Level.MUST,
    on=requests,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("plain", {"/0/request/max_tokens": 9, "/0/request/max_completion_tokens": 9}, _CLAIM)],
    good=[example("plain", {"/0/request/max_tokens": 9}, _CLAIM)],
    needs=("request.conflicts",),
)
def judge(request: Body, context: Context) -> list[Fault]:
    """A request holds no parameters that exclude each other at the provider.

    Either is taken alone. To fix it, decide between them.
    """
    body = request.value
    faults = []
    for conflict in context.claim("request.conflicts"):
        conditions = conflict["when"]
        if conflict["verdict"] != "accepted" and all(profiles.matches(each, body) for each in conditions):
            named = ", ".join([each["at"] for each in conditions])
            values = {"model": request.exchange.model}
            message = f"expected not all of these together: {named}, got them"
            faults.append(Fault(message, values=values, verdict=conflict["verdict"]))
    return faults
