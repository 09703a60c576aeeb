from conformance.documents.pointer import REMOVE
from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, described_by, example, rule
from conformance.wire.elements import Call
from conformance.wire.views import reply_calls

_TYPE = "/0/response/choices/0/message/tool_calls/0/type"


@rule(
    Level.SHOULD,
    on=reply_calls,
    harm=Harm.FORM,
    source=Source("https://platform.openai.com/docs/api-reference/chat/object", "The type of the tool."),
    bad=[
        example("tool-call", {_TYPE: REMOVE}),
        example("tool-call", {_TYPE: None}),
        example("stream-tool-calls", {"/0/response/6/choices/0/delta/tool_calls/0/type": REMOVE}),
        example("tool-call", {_TYPE: REMOVE}, {"reply.call-type": "present"}),
    ],
    good=[
        example("tool-call"),
        example("stream-tool-calls"),
        example("tool-call", {_TYPE: REMOVE}, {"reply.call-type": "absent"}),
    ],
    known_by=described_by("reply.call-type", "absent", "sometimes"),
    reads=("reply.call-type",),
)
def judge(call: Call, _context: Context) -> list[Fault]:
    """A tool call of a reply has a `type`.

    Clients that check replies discard a call without it, or fail on it, and what they send back lacks a required key.
    Most clients read an absent type as `function`, so it is only a SHOULD. To fix it, send `"type": "function"` with
    each call; in a stream, with its first fragment.
    """
    kind = call.value.get("type")
    if kind is not None:
        return []
    got = "null" if "type" in call.value else "none"
    return [Fault(f'expected a type, such as "function", got {got}', at=("type",))]
