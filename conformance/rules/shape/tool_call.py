"""Rule: one tool call of a request."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Call
from conformance.wire.views import tool_calls


@rule(
    Level.MUST,
    on=tool_calls,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[
        example("tool-result", {"/0/request/messages/1/tool_calls/0/function/arguments": {"city": "Paris"}}),
        example("tool-result", {"/0/request/messages/1/tool_calls/0/type": "tool"}),
    ],
    by_schema=True,
    handed=(
        "request.call-without-type",
        "ids.absent-in-request",
        "arguments.object-in-request",
        "request.wrong-type",
        "arguments.absent-in-request",
        "request.missing-field",
    ),
)
def judge(part: Call, context: Context) -> list[Fault]:
    """A tool call sent back is {id, type, function{name, arguments}}, its arguments a string.

    `arguments` is the raw JSON text as the model emitted it, even when malformed: an object in its place loses the
    bytes and is refused by strict providers. To fix it, send the string that came.
    """
    return context.shape_faults(part.place)
