"""Rule: arguments sent back can be parsed where the provider parses them."""

import orjson

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body, Call
from conformance.wire.views import requests

_ARGUMENTS = "/0/request/messages/1/tool_calls/0/function/arguments"
_REFUSED = {"status": 400, "message": "Assistant tool call function.arguments must be valid JSON."}
_BORNE = (None, "accepted", "ignored", "unknown")
_CLAIMS = ("arguments.malformed-in-request", "arguments.empty-in-request", "arguments.array-in-request")


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: any(context.claims.get(name) not in _BORNE for name in _CLAIMS),
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
)
def judge(request: Body, context: Context) -> list[Fault]:
    """The arguments of tool calls sent back are JSON text of objects, where the provider parses them.

    The canonical wire sends them back as the model wrote them, even when malformed; some providers refuse that.
    To fix it, send `{}` in their place there, with a result that says what was wrong with the arguments.
    """
    return [
        fault
        for turn in context.index.turns
        if turn.place[0] == request.place[0]
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
    if context.claims.get(claim) in _BORNE:
        return []
    message = f"expected JSON text of an object, got {call.arguments!r:.60} ({reason})"
    values = {"id": call.id, "name": call.name, "position": call.position, "reason": reason}
    return [Fault(message, place=(*call.place, "function", "arguments"), values=values, claim=claim)]
