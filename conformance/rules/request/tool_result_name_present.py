from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFUSED = {"results.name-missing": {"status": 400, "message": "messages[{index}]: name is required"}}
_NAME = {"/0/request/messages/2/name": "get_weather"}


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    when=lambda claimed: claimed.rejects_or_damages("results.name-missing"),
    source=Source(
        "https://github.com/NousResearch/hermes-agent/pull/19728",
        "strictly requires the `name` field on `role: tool` messages",
    ),
    bad=[example("tool-result", claims=_REFUSED)],
    good=[example("tool-result", _NAME, {**_REFUSED, "request.known-message-fields": ["name"]})],
    needs=("results.name-missing",),
    claim="results.name-missing",
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """Tool messages have the `name` of their function if the provider requires it.

    The canonical wire has no such key. To fix it, copy the name from the call.
    """
    return [
        Fault(
            "expected the name of the function, got none", place=result.place, values={"id": result.id, "role": "tool"}
        )
        for result in context.results
        if not result.value.get("name")
    ]
