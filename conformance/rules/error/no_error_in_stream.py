"""Rule: a stream does not fail after its status said success."""

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
    """A stream carries no error.

    Its status has said success, and clients that look at choices alone take what came before for the whole reply.
    To fix it, check the request before the first chunk, so that a refusal has a status of its own; what fails later
    has to be sent as an event, and a client looks for `error` in each.
    """
    if stream.value.error is None:
        return []
    anomalies = stream.value.anomalies.get("error-in-band", ())
    return [Fault(f"expected no error in a stream, got {anomaly.detail}", at=anomaly.at) for anomaly in anomalies]
