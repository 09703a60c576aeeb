import orjson

from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import reply_has_calls
from conformance.schemas import argument_errors
from conformance.wire.elements import Reply
from conformance.wire.views import replies

_ARGUMENTS = "/0/response/choices/0/message/tool_calls/0/function/arguments"


@rule(
    Level.SHOULD,
    on=replies,
    among=reply_has_calls,
    where=lambda reply, _context: reply.complete and reply.finish_reason != "length" and reply.request is not None,
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/object",
        "may hallucinate parameters not defined by your function schema",
    ),
    bad=[
        example("tool-call", {_ARGUMENTS: '{"town": "Paris"}'}),
        example("tool-call", {_ARGUMENTS: '{"city": 75000}'}),
    ],
    good=[example("tool-call-parallel"), example("stream-tool-calls")],
    wires=EVERY,
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """The arguments of a reply's tool call match the parameters that the request declares.

    The model writes them, but engines can enforce the match: with `strict`, or by decoding under the schema. To fix it,
    turn that on; a client answers the call with a result that says what is missing, so that the model can try again.
    """
    faults = []
    for call in reply.calls:
        function = context.definition(call)
        parameters = function.get("parameters") if function is not None else None
        if type(parameters) is not dict or type(call.arguments) is not str:
            continue
        try:
            value = orjson.loads(call.arguments)
        except orjson.JSONDecodeError:
            continue
        if type(value) is dict:
            place = (*call.place, "function", "arguments")
            faults += [Fault(error, place=place) for error in argument_errors(parameters, value)]
    return faults
