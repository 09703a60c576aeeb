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
    """A request has no parameters that the provider rejects in combination.

    Each of them is accepted alone. To fix it, send only one of them.
    """
    body = request.value
    faults = []
    for conflict in context.claim("request.conflicts"):
        conditions = conflict["when"]
        if conflict["verdict"] != "accepted" and all(profiles.matches(each, body) for each in conditions):
            named = ", ".join([each["at"] for each in conditions])
            values = {"model": request.exchange.model}
            message = f"expected not all of {named}, got all of them"
            faults.append(Fault(message, values=values, verdict=conflict["verdict"]))
    return faults
