from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.schema_claims import OF_TOOL_CALLS
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
    reads=OF_TOOL_CALLS,
    by_schema=True,
)
def judge(call: Call, context: Context) -> list[Fault]:
    """A tool call in a request is {id, type, function{name, arguments}}; its arguments are a string.

    `arguments` is the raw JSON text from the model, even if malformed. An object in its place loses the original text,
    and strict providers reject it. To fix it, send the string as received.
    """
    return context.shape_faults(call.place)
