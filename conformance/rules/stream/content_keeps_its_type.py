"""Rule: content does not change its type within a stream."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_THOUGHT = [{"type": "thinking", "thinking": [{"type": "text", "text": "May is mild."}]}]
_FIELD = "reasoning.response-field"


@rule(
    Level.SHOULD,
    on=streams,
    where=lambda stream, context: (
        bool(stream.value.choices)
        and not context.says(_FIELD, "thinking-parts")
        and not context.says(_FIELD, "reasoning-parts")
    ),
    source=Source("https://platform.openai.com/docs/api-reference/chat/streaming"),
    bad=[example("stream-plain", {"/0/response/1/choices/0/delta/content": _THOUGHT})],
    good=[example("stream-plain"), example("stream-plain", {"/0/response/0/choices/0/delta/content": None})],
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """The content of a streamed choice is strings throughout, or lists of parts throughout.

    A client that appends finds `[object Object]` in the text, or fails. To fix it, stream reasoning under a field of
    its own, or claim the parts for a provider that documents them.
    """
    found = stream.value.anomalies.get("content-type-changed", ())
    return [Fault(f"expected content of one type, got a change {anomaly.detail}", at=anomaly.at) for anomaly in found]
