"""Rule: a call of a reply has an id."""

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
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
)
def judge(call: Call, context: Context) -> list[Fault]:
    """A tool call of a reply has an id that is not empty.

    The id is how a result names the call that it answers; hosts that leave it empty get results that they cannot
    pair, and others refuse the history. To fix it, give each call an id; a client that must go on with such a reply
    makes one up and uses it in the call and in the result alike.
    """
    if call.id != "" and (call.id is not None or not context.exchange.streamed):
        return []
    return [Fault(f"expected an id, got {call.id!r}", at=("id",))]
