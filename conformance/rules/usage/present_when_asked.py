from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_ELSEWHERE = ("choice", "vendor", "none")


def _is_asked(stream: Streamed, context: Context) -> bool:
    options = stream.request.get("stream_options") if stream.request is not None else None
    if type(options) is not dict or options.get("include_usage") is not True or stream.value.error is not None:
        return False
    ended = stream.value.done or any(choice.finish_reason is not None for choice in stream.value.choices)
    return ended and not context.claims_any("stream.usage", *_ELSEWHERE)


@rule(
    Level.MUST,
    on=streams,
    where=_is_asked,
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/create",
        "The usage field on this chunk shows the token usage statistics for the entire request",
    ),
    bad=[example("stream-plain", {"/0/response/4": REMOVE})],
    good=[example("stream-plain"), example("stream-tool-calls", claims={"stream.usage": ["own-chunk"]})],
    reads=("stream.usage",),
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """A stream reports its token count if `stream_options.include_usage` asks for it.

    A stream that was cut off or failed may lack the count. To fix it, send a chunk with `usage` and empty `choices`
    before `[DONE]`.
    """
    if stream.value.usage is not None:
        return []
    return [Fault("expected a chunk with usage, because include_usage is true, got none")]
