"""Rule: a stream comes to its end."""

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams


@rule(
    Level.MUST,
    on=streams,
    where=lambda stream, context: stream.value.error is None and not context.says("stream.line-ends", "single"),
    source=Source("https://github.com/anomalyco/opencode/issues/39968"),
    bad=[
        example("stream-plain", {"/0/response/3": REMOVE}),
        example("stream-plain", {"/0/response/5": 'data: {"id": "chatcmpl-1", "obj'}, {"stream.done": False}),
    ],
    good=[example("stream-plain"), example("stream-tool-calls")],
)
def judge(stream: Streamed, context: Context) -> list[Fault]:
    """Every choice of a stream comes to its finish reason, and no event is left half sent.

    A stream that just ends was cut: by a proxy's time limit, a crash, a lost connection. Half a reply that is taken
    for a whole one is stored, and half a tool call is run. To fix it, end with a finish reason or an error; a client
    discards what has none. Where the provider is known to leave it out, the finding is no must.
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
