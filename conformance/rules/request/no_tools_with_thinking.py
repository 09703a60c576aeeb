"""Rule: no tools while the model thinks."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFUSED = {"status": 400, "message": "Function tools with reasoning_effort are not supported for {model}."}
_CLAIMS = {
    "thinking.mode": "default-on",
    "thinking.switches": [{"at": "/reasoning_effort", "equals": "none", "thinks": False}],
    "thinking.with-tools": _REFUSED,
}


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: (
        context.thinks is True and context.claim("thinking.with-tools") not in ("accepted", "ignored")
    ),
    source=Source(
        "https://github.com/BerriAI/litellm/pull/34569",
        "Function tools with reasoning_effort are not supported for gpt-5.6-terra in /v1/chat/completions.",
    ),
    bad=[
        example("tool-call", claims=_CLAIMS),
        example("tool-call", {"/0/request/reasoning_effort": "low"}, _CLAIMS),
    ],
    good=[example("plain", claims=_CLAIMS)],
    needs=("thinking.with-tools",),
    refused="thinking.with-tools",
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """A request declares no tools while the model thinks, where the provider does not take both.

    To fix it, switch thinking off in requests with tools, or ask such a model over the interface that has both.
    """
    if not request.value.get("tools"):
        return []
    message = "expected no tools while the model thinks, got some"
    return [Fault(message, at=("tools",), values={"model": request.exchange.model})]
