from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, described_by, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_ID = "/0/response/2/id"


@rule(
    Level.MUST,
    on=streams,
    harm=Harm.FORM,
    where=lambda stream, _context: len(stream.value.chunks) > 2,
    known_by=described_by("stream.chunk-id", "varies", "absent"),
    source=Source("https://platform.openai.com/docs/api-reference/chat/streaming", "Each chunk has the same ID."),
    bad=[example("stream-plain", {_ID: "chatcmpl-2"})],
    good=[example("stream-plain"), example("stream-plain", claims={"stream.chunk-id": "constant"})],
    reads=("stream.chunk-id",),
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """All chunks of a stream have the same id.

    Clients and logs tell replies apart by it: with a new id, text and token count end up in different replies.
    To fix it, generate the id once per request.
    """
    found = stream.value.anomalies.get("chunk-id-changed", ())
    return [
        Fault(f"expected the id of the chunk before, got a change {anomaly.detail}", at=anomaly.at) for anomaly in found
    ]
