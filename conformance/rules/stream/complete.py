from typing import Final

from conformance.documents.pointer import REMOVE
from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_MISSING: Final = "finish.missing-in-stream"


@rule(
    Level.MUST,
    on=streams,
    harm=Harm.LOOP,
    where=lambda stream, _context: stream.value.error is None,
    when=lambda claimed: not claimed.claims_any("stream.line-ends", "single"),
    source=Source(
        "https://github.com/anomalyco/opencode/issues/39968",
        "EOF without a finish frame concludes the turn as a success.",
    ),
    bad=[
        example("stream-plain", {"/0/response/3": REMOVE}),
        example("stream-plain", {"/0/response/5": 'data: {"id": "chatcmpl-1", "obj'}, {"stream.done": False}),
    ],
    good=[example("stream-plain"), example("stream-tool-calls")],
    reads=(_MISSING, "stream.line-ends"),
)
def judge(stream: Streamed, context: Context) -> list[Fault]:
    """Every choice of a stream ends with a finish reason, and no event is incomplete.

    A stream that just ends was cut off: by a proxy's time limit, a crash, a lost connection. A client that takes half a
    reply for a whole one stores it, or runs half a tool call. If a claim says that the provider omits it, that
    is known. To fix it, end with a finish reason or an error; a client discards a stream without one.
    """
    anomalies = stream.value.anomalies
    if "cut" not in anomalies:
        return []
    faults = []
    for anomaly in anomalies["cut"]:
        if len(anomaly.at) > 1:
            known = _MISSING if context.claim(_MISSING) is True else ""
            faults.append(
                Fault("expected a finish_reason in the choice's last chunk, got none", at=anomaly.at, known=known)
            )
        elif "done-undispatched" not in anomalies:
            faults.append(Fault(f"expected a blank line after the last event, got {anomaly.detail}"))
    return faults
