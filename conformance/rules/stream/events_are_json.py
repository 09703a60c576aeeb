from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams


@rule(
    Level.MUST,
    on=streams,
    harm=Harm.LOOP,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/completion_create_params.py",
        quote="streamed to the client as it is generated using [server-sent events]",
    ),
    bad=[
        example("stream-plain", {"/0/response/2": "data: {'usage': None}\n\n"}),
        example("stream-plain", {"/0/response/2": "data: ping\n\n"}),
        example("stream-plain", {"/0/response/2": "data: [1]\n\n"}),
    ],
    good=[example("stream-plain"), example("stream-plain", {"/0/response/2": ": ping\n\n"})],
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """Every event of a stream except the last is a JSON object.

    One event that does not parse makes most clients discard the whole reply. To fix it, send keep-alive
    events as comments (`: ping`), and errors as JSON.
    """
    anomalies = stream.value.anomalies
    faults = []
    if "bad-json" in anomalies:
        faults += [
            Fault(f"expected a JSON object, got {anomaly.detail}", at=anomaly.at) for anomaly in anomalies["bad-json"]
        ]
    if "not-an-object" in anomalies:
        whole = [anomaly for anomaly in anomalies["not-an-object"] if len(anomaly.at) == 1]
        faults += [Fault(f"expected a JSON object, got {anomaly.detail}", at=anomaly.at) for anomaly in whole]
    return faults
