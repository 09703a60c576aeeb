from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, described_by, example, rule
from conformance.rules.conditions import stream_has_calls
from conformance.wire.elements import Streamed
from conformance.wire.views import streams


@rule(
    Level.MUST,
    on=streams,
    harm=Harm.LOOP,
    among=stream_has_calls,
    known_by=described_by("stream.index", "always-zero", "sometimes-wrong"),
    source=Source(
        "https://github.com/ollama/ollama/issues/15457",
        "all tool call chunks have `index: 0` instead of incrementing indices",
    ),
    bad=[
        example(
            "stream-tool-calls",
            {f"/0/response/{number}/choices/0/delta/tool_calls/0/index": 0 for number in (6, 7, 8)},
        ),
    ],
    good=[example("stream-tool-calls"), example("stream-tool-calls", claims={"stream.index": "shifted"})],
    reads=("stream.index",),
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """Each tool call of a streamed message has an index of its own.

    Clients collect fragments by index: two calls with one index become a single call with joined arguments, and the
    second is lost. To fix it, increase the index with each call.
    """
    found = stream.value.anomalies.get("index-reused", ())
    return [
        Fault(f"expected a new index for a call with a new id: {anomaly.detail}", at=anomaly.at) for anomaly in found
    ]
