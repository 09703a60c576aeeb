from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams


@rule(
    Level.MUST,
    on=streams,
    where=lambda stream, _context: stream.value.error is None,
    when=lambda claimed: not claimed.claims_any("stream.line-ends", "single"),
    source=Source("https://github.com/anomalyco/opencode/issues/39968"),
    bad=[
        example("stream-plain", {"/0/response/3": REMOVE}),
        example("stream-plain", {"/0/response/5": 'data: {"id": "chatcmpl-1", "obj'}, {"stream.done": False}),
    ],
    good=[example("stream-plain"), example("stream-tool-calls")],
    reads=("finish.missing-in-stream", "stream.line-ends"),
)
def judge(stream: Streamed, context: Context) -> list[Fault]:
    """Every choice of a stream ends with a finish reason, and no event is incomplete.

    A stream that just ends was cut off: by a proxy's time limit, a crash, a lost connection. A client that takes half a
    reply for a whole one stores it, or runs half a tool call. If the provider is known to omit the finish reason, the
    finding is only a SHOULD. To fix it, end with a finish reason or an error; a client discards a stream without one.
    """
    anomalies = stream.value.anomalies
    if "cut" not in anomalies:
        return []
    faults = []
    for anomaly in anomalies["cut"]:
        if len(anomaly.at) > 1:
            level = Level.SHOULD if context.claim("finish.missing-in-stream") is True else None
            faults.append(
                Fault("expected a finish_reason in the choice's last chunk, got none", at=anomaly.at, level=level)
            )
        elif "done-undispatched" not in anomalies:
            faults.append(Fault(f"expected a blank line after the last event, got {anomaly.detail}"))
    return faults
