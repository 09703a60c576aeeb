from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import WITH_IDS, Context, Fault, Source, example, rule
from conformance.wire.elements import Call
from conformance.wire.views import reply_calls


@rule(
    Level.MUST,
    on=reply_calls,
    source=Source("https://platform.openai.com/docs/api-reference/chat/object", "The ID of the tool call."),
    bad=[
        example("tool-call", {"/0/response/choices/0/message/tool_calls/0/id": ""}),
        example("stream-tool-calls", {"/0/response/6/choices/0/delta/tool_calls/0/id": REMOVE}),
    ],
    good=[example("tool-call-parallel"), example("stream-tool-calls")],
    wires=WITH_IDS,
)
def judge(call: Call, context: Context) -> list[Fault]:
    """Every tool call of a reply has an id that is not empty.

    A result names its call by the id. Hosts that leave it empty receive results that they cannot pair, and others
    reject the history. To fix it, give each call an id; a client that has to continue from such a reply generates one,
    and uses it in the call and in its result.
    """
    if call.id != "" and (call.id is not None or not context.exchange.streamed):
        return []
    return [Fault(f"expected an id, got {call.id!r}", at=("id",))]
