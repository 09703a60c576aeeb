from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIMS = {
    "thinking.efforts": ["low", "high"],
    "thinking.effort-unknown": {"status": 400, "message": "Unsupported value: '{value}'."},
}


@rule(
    Level.MUST,
    on=requests,
    where=lambda request, _context: type(request.value.get("reasoning_effort")) is str,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[
        example("plain", {"/0/request/reasoning_effort": "ultra"}, _CLAIMS),
        example("plain", {"/0/request/reasoning_effort": "ultra"}, {**_CLAIMS, "thinking.effort-unknown": "ignored"}),
    ],
    good=[example("plain", {"/0/request/reasoning_effort": "low"}, _CLAIMS)],
    needs=("thinking.efforts", "thinking.effort-unknown"),
    claim="thinking.effort-unknown",
)
def judge(request: Body, context: Context) -> list[Fault]:
    """`reasoning_effort` is a value that the provider knows.

    The values differ by host. To fix it, send the nearest value that the profile lists.
    """
    effort, known = request.value["reasoning_effort"], context.claim("thinking.efforts")
    if effort in known or context.claim("thinking.effort-unknown") == "accepted":
        return []
    message = f"expected one of {', '.join(known)}, got {effort[:40]!r}"
    values = {"value": effort, "field": "reasoning_effort", "model": request.exchange.model}
    return [Fault(message, at=("reasoning_effort",), values=values)]
