from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.conditions import request_thinks
from conformance.rules.reasoning_claims import THINKS
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
    among=request_thinks,
    when=lambda claimed: claimed.rejects_or_damages("thinking.with-tools"),
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
    claim="thinking.with-tools",
    reads=THINKS,
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """A request declares no tools while the model thinks if the provider rejects that.

    To fix it, turn thinking off in requests with tools, or use an API of the provider that supports both.
    """
    if not request.value.get("tools"):
        return []
    message = "expected no tools while the model thinks, got tools"
    return [Fault(message, at=("tools",), values={"model": request.exchange.model})]
