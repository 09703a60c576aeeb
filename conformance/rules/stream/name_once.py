from conformance.documents.pointer import REMOVE
from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.conditions import stream_has_calls
from conformance.rules.faults import sent_again
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_KINDS = {
    "name-repeated": ("repeated", "{}"),
    "name-empty": ("empty", "'' here"),
    "name-changed": ("changes", "{}"),
    "name-missing": ("never", "none there"),
}
_FIRST = "/0/response/3/choices/0/delta/tool_calls/0/function/name"
_LATER = "/0/response/4/choices/0/delta/tool_calls/0/function/name"


@rule(
    Level.MUST,
    on=streams,
    harm=Harm.FORM,
    among=stream_has_calls,
    source=Source("https://github.com/SillyTavern/SillyTavern/pull/5948", 'behavior of repeating "id", "type", "name"'),
    bad=[
        example("stream-tool-calls", {_LATER: "get_weather"}),
        example("stream-tool-calls", {_LATER: ""}),
        example("stream-tool-calls", {_LATER: "get_rain"}),
        example("stream-tool-calls", {_FIRST: REMOVE, _LATER: "get_weather"}),
    ],
    good=[
        example("stream-tool-calls"),
        example("stream-tool-calls", {_LATER: None}),
        example("stream-tool-calls", {_LATER: "get_weather"}, {"stream.continuation-name": "repeated"}),
    ],
    reads=("stream.continuation-name",),
)
def judge(stream: Streamed, context: Context) -> list[Fault]:
    """The function name of a streamed tool call is sent once, in its first fragment.

    Clients that append every string get `get_weatherget_weather`, those that overwrite end with an empty name. Null
    counts as absent. To fix it, omit the name from later fragments.
    """
    return sent_again(stream, context, "name", _KINDS, "function")
