import orjson

from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wire.elements import Body, Call
from conformance.wire.views import requests

_ARGUMENTS = "/0/request/messages/1/tool_calls/0/function/arguments"
_REFUSED = {"status": 400, "message": "Assistant tool call function.arguments must be valid JSON."}
_CLAIMS = ("arguments.malformed-in-request", "arguments.empty-in-request", "arguments.array-in-request")


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    when=lambda claimed: any(claimed.rejects_or_damages(name) for name in _CLAIMS),
    source=Source("https://github.com/ggml-org/llama.cpp/issues/25510", "Failed to parse tool call arguments as JSON"),
    bad=[
        example("tool-result", {_ARGUMENTS: '{"city": "Par'}, {"arguments.malformed-in-request": _REFUSED}),
        example("tool-result", {_ARGUMENTS: ""}, {"arguments.empty-in-request": _REFUSED}),
        example("tool-result", {_ARGUMENTS: '["Paris"]'}, {"arguments.array-in-request": _REFUSED}),
    ],
    good=[
        example("tool-result", claims={"arguments.malformed-in-request": _REFUSED}),
        example("tool-result", {_ARGUMENTS: ""}, {"arguments.malformed-in-request": _REFUSED}),
    ],
    reads=_CLAIMS,
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """Tool call arguments are the JSON text of an object if the provider parses them.

    The canonical wire sends them back as the model wrote them, even if malformed; some providers reject that.
    To fix it, send `{}` instead to such a provider, with a tool result that says what was wrong with the arguments.
    """
    return [
        fault
        for turn in context.turns
        for call in turn.calls
        if type(call.arguments) is str and not _is_object(call.arguments)
        for fault in _faults(call, context)
    ]


def _is_object(text: str) -> bool:
    try:
        return type(orjson.loads(text)) is dict
    except orjson.JSONDecodeError:
        return False


def _faults(call: Call, context: Context) -> list[Fault]:
    try:
        orjson.loads(call.arguments)
        claim, reason = "arguments.array-in-request", "other JSON"
    except orjson.JSONDecodeError as error:
        claim = "arguments.malformed-in-request" if call.arguments else "arguments.empty-in-request"
        reason = error.msg
    if not context.rejects_or_damages(claim):
        return []
    message = f"expected JSON text of an object, got {call.arguments!r:.60} ({reason})"
    values = {"id": call.id, "name": call.name, "position": call.position, "reason": reason}
    return [Fault(message, place=(*call.place, "function", "arguments"), values=values, claim=claim)]
