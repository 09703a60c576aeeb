from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.conditions import stream_has_finish
from conformance.wire.elements import Streamed
from conformance.wire.views import streams


@rule(
    Level.MUST,
    on=streams,
    among=stream_has_finish,
    source=Source(
        "https://github.com/vllm-project/vllm/pull/36944",
        "This matches OpenAI's streaming API convention where the finish chunk always has `delta: {}`",
    ),
    bad=[
        example(
            "stream-plain",
            {"/0/response/4/choices": [{"index": 0, "delta": {"content": " Hardly."}, "finish_reason": None}]},
        ),
    ],
    good=[
        example("stream-plain"),
        example(
            "stream-plain",
            {"/0/response/4/choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": None}]},
        ),
    ],
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """After the finish reason of a choice, its deltas are empty.

    A client that stops reading there loses the rest; only the token count may follow. To fix it, send the finish reason
    after the last text and the last call.
    """
    found = stream.value.anomalies.get("after-finish", ())
    return [
        Fault(f"expected nothing after the finish reason, got {anomaly.at[-1]} {anomaly.detail}", at=anomaly.at)
        for anomaly in found
    ]
