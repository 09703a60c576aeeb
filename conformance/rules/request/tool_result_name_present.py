"""Rule: results name their function, where that is asked."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFUSED = {"results.name-missing": {"status": 400, "message": "messages[{index}]: name is required"}}
_NAME = {"/0/request/messages/2/name": "get_weather"}


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: context.bites("results.name-missing"),
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("tool-result", claims=_REFUSED)],
    good=[example("tool-result", _NAME, {**_REFUSED, "request.known-message-fields": ["name"]})],
    needs=("results.name-missing",),
    refused="results.name-missing",
)
def judge(request: Body, context: Context) -> list[Fault]:
    """A tool message bears the `name` of its function, where the provider demands it.

    The canonical wire has no such key. To fix it, copy the name from the call.
    """
    return [
        Fault(
            "expected the name of the function, got none", place=result.place, values={"id": result.id, "role": "tool"}
        )
        for result in context.index.results
        if result.place[0] == request.place[0] and not result.value.get("name")
    ]
