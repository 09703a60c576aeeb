from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_FAILED = {"error": {"message": "The upstream is gone.", "code": 502}}


@rule(
    Level.SHOULD,
    on=streams,
    source=Source("https://github.com/anomalyco/opencode/issues/39968"),
    bad=[
        example("stream-plain", {"/0/response/4": _FAILED}),
        example("stream-tool-calls", {"/0/response/10": 'event: error\ndata: {"error": {"message": "Gone."}}\n\n'}),
    ],
    good=[example("stream-plain"), example("stream-tool-calls")],
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """A stream contains no error.

    Its status is already 200, so a client that reads only choices takes what came before as the whole reply. To fix it,
    check the request before the first chunk, so that a rejection has its own status. A later failure has to be sent as
    an event, and clients have to look for `error` in each event.
    """
    if stream.value.error is None:
        return []
    anomalies = stream.value.anomalies.get("error-in-band", ())
    return [Fault(f"expected no error in a stream, got {anomaly.detail}", at=anomaly.at) for anomaly in anomalies]
