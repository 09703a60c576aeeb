"""Rule: a call that was cut is known as such."""

import orjson

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Reply
from conformance.wire.views import replies

_CHOICE = "/0/response/choices/0"
_ARGUMENTS = f"{_CHOICE}/message/tool_calls/0/function/arguments"


@rule(
    Level.SHOULD,
    on=replies,
    where=lambda reply, _context: bool(reply.calls) and reply.finish_reason == "length",
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/object",
        "length if the maximum number of tokens specified in the request was reached",
    ),
    bad=[
        example("tool-call", {f"{_CHOICE}/finish_reason": "length", _ARGUMENTS: '{"city": "Pa'}),
        example("tool-call", {f"{_CHOICE}/finish_reason": "length", _ARGUMENTS: ""}),
    ],
    good=[example("tool-call", {f"{_CHOICE}/finish_reason": "length"})],
)
def judge(reply: Reply, _context: Context) -> list[Fault]:
    """A reply that the token limit ended holds whole tool calls.

    The text of the last call's arguments ends where the tokens did; a client that runs the call all the same runs it
    with less than the model meant. To fix it, allow more tokens; a client does not run what it cannot parse and says
    so in the result.
    """
    faults = []
    for call in reply.calls:
        text = call.arguments
        if type(text) is not str:
            continue
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError:
            message = f"expected whole arguments, got {text[-40:]!r} at the token limit"
            faults.append(Fault(message, place=(*call.place, "function", "arguments")))
    return faults
