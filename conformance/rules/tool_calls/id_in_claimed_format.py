from conformance import linear
from conformance.results import Level
from conformance.rules import WITH_IDS, Context, Fault, Source, example, rule
from conformance.rules.context import as_words
from conformance.wire.elements import Call
from conformance.wire.views import reply_calls

_CLAIMS = {"ids.format": ["call_[a-z]", "functions\\.[a-z_]+:[0-9]+"]}


@rule(
    Level.SHOULD,
    on=reply_calls,
    where=lambda call, _context: type(call.id) is str and call.id != "",
    source=Source("https://platform.openai.com/docs/api-reference/chat/object", "The ID of the tool call."),
    bad=[example("tool-call", {"/0/response/choices/0/message/tool_calls/0/id": "toolu_01"}, _CLAIMS)],
    good=[
        example("tool-call-parallel", claims=_CLAIMS),
        example("tool-call", {"/0/response/choices/0/message/tool_calls/0/id": "functions.get_weather:0"}, _CLAIMS),
        example("tool-call", claims={"ids.format": "call_."}),
    ],
    needs=("ids.format",),
    reads=("ids.format-in-stream",),
    wires=WITH_IDS,
)
def judge(call: Call, context: Context) -> list[Fault]:
    """The id of a reply's tool call has the format that the provider documents.

    Ids travel to other hosts, some of which accept only certain lengths and characters; a changed format shows that
    another engine answers. To fix it, reply with ids of the documented format. If the provider has changed it for good,
    the profile needs a new claim with its date.
    """
    claimed = context.claim("ids.format")
    if context.exchange.streamed:
        claimed = context.claim("ids.format-in-stream", claimed)
    patterns = as_words(claimed)
    if any([linear.fits(pattern, call.id) for pattern in patterns]):
        return []
    return [Fault(f"expected an id that matches {' or '.join(patterns)}, got {call.id!r:.60}", at=("id",))]
