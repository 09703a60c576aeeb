"""Rule: the chunks of a stream are one reply."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_ID = "/0/response/2/id"


def _is_judged(stream: Streamed, context: Context) -> bool:
    return len(stream.value.chunks) > 2 and not context.says("stream.chunk-id", "varies", "absent")


@rule(
    Level.MUST,
    on=streams,
    where=_is_judged,
    source=Source("https://platform.openai.com/docs/api-reference/chat/streaming", "Each chunk has the same ID."),
    bad=[example("stream-plain", {_ID: "chatcmpl-2"})],
    good=[example("stream-plain"), example("stream-plain", claims={"stream.chunk-id": "constant"})],
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """All chunks of a stream have the same id.

    Clients and logs tell replies apart by it: a new id is a new reply, and text and token count go to different ones.
    To fix it, make the id once a request.
    """
    found = stream.value.anomalies.get("chunk-id-changed", ())
    return [
        Fault(f"expected the id of the chunk before, got a change {anomaly.detail}", at=anomaly.at) for anomaly in found
    ]
