from conformance.documents.pointer import REMOVE
from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.conditions import stream_has_calls
from conformance.rules.faults import sent_again
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_KINDS = {
    "id-repeated": ("repeated", "{} here"),
    "id-empty": ("empty", "'' here"),
    "id-late": ("changes", "{} here"),
}
_FIRST = "/0/response/3/choices/0/delta/tool_calls/0/id"
_LATER = "/0/response/4/choices/0/delta/tool_calls/0/id"


@rule(
    Level.SHOULD,
    on=streams,
    harm=Harm.FORM,
    among=stream_has_calls,
    source=Source(
        "https://github.com/BerriAI/litellm/issues/8990",
        "only including the `tool_call_id` in the first chunk",
    ),
    bad=[
        example("stream-tool-calls", {_LATER: "call_a"}),
        example("stream-tool-calls", {_LATER: ""}),
        example("stream-tool-calls", {_FIRST: REMOVE, _LATER: "call_a"}),
        example("stream-tool-calls", {_LATER: "call_a"}, {"stream.continuation-id": "empty"}),
    ],
    good=[
        example("stream-tool-calls"),
        example("stream-tool-calls", {_LATER: None}),
        example("stream-tool-calls", {_LATER: "call_a"}, {"stream.continuation-id": ["absent", "repeated"]}),
    ],
    reads=("stream.continuation-id",),
)
def judge(stream: Streamed, context: Context) -> list[Fault]:
    """The id of a streamed tool call is sent once, in its first fragment.

    Clients take a fragment with an id for a new call, or overwrite the id with an empty one and can no longer pair the
    result. Null counts as absent. To fix it, omit the id from later fragments.
    """
    return sent_again(stream, context, "id", _KINDS, "id")
