from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, described_by, example, rule
from conformance.rules.conditions import stream_has_calls
from conformance.wire.elements import Streamed
from conformance.wire.views import streams


@rule(
    Level.SHOULD,
    on=streams,
    harm=Harm.LOOP,
    among=stream_has_calls,
    known_by=described_by("stream.index", "shifted", "sometimes-wrong"),
    source=Source("https://github.com/ollama/ollama/issues/7881", "tool call `index` is present starting at 0"),
    bad=[
        example(
            "stream-tool-calls",
            {f"/0/response/{number}/choices/0/delta/tool_calls/0/index": 2 for number in (6, 7, 8)},
        ),
        example(
            "stream-tool-calls",
            {
                **{f"/0/response/{number}/choices/0/delta/tool_calls/0/index": 1 for number in (3, 4, 5)},
                **{f"/0/response/{number}/choices/0/delta/tool_calls/0/index": 2 for number in (6, 7, 8)},
            },
        ),
    ],
    good=[example("stream-tool-calls"), example("stream-thinking-session")],
    reads=("stream.index",),
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """The tool call indexes of a streamed message count from 0 without a gap.

    Clients use the index as an array position, so a gap becomes an empty call. To fix it, number only the calls; text
    and reasoning get no number.
    """
    found = stream.value.anomalies.get("index-gap", ())
    return [
        Fault(anomaly.detail.replace("expected", "expected index", 1), at=(*anomaly.at, "index")) for anomaly in found
    ]
