import orjson

from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import reply_has_calls
from conformance.wire.elements import Reply
from conformance.wire.views import replies

_CHOICE = "/0/response/choices/0"
_ARGUMENTS = f"{_CHOICE}/message/tool_calls/0/function/arguments"


@rule(
    Level.SHOULD,
    on=replies,
    among=reply_has_calls,
    where=lambda reply, _context: reply.finish_reason == "length",
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/object",
        "length if the maximum number of tokens specified in the request was reached",
    ),
    bad=[
        example("tool-call", {f"{_CHOICE}/finish_reason": "length", _ARGUMENTS: '{"city": "Pa'}),
        example("tool-call", {f"{_CHOICE}/finish_reason": "length", _ARGUMENTS: ""}),
    ],
    good=[example("tool-call", {f"{_CHOICE}/finish_reason": "length"})],
    wires=EVERY,
)
def judge(reply: Reply, _context: Context) -> list[Fault]:
    """A reply that hits the token limit contains complete tool calls.

    The arguments of the last call end where the tokens did; a client that runs the call anyway runs it with less than
    the model intended. To fix it, allow more tokens. A client does not run what it cannot parse, and says so in the
    result.
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
