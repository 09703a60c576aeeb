"""Rule: indexes count."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams


def _is_judged(stream: Streamed, context: Context) -> bool:
    return stream.has_calls and not context.says("stream.index", "shifted", "sometimes-wrong")


@rule(
    Level.SHOULD,
    on=streams,
    where=_is_judged,
    source=Source("https://platform.openai.com/docs/api-reference/chat/streaming"),
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
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """The indexes of a streamed message's tool calls count from 0 without a gap.

    Clients use the index as a position in an array, and a gap becomes an empty call. To fix it, number the calls
    alone: text and reasoning take no number.
    """
    found = stream.value.anomalies.get("index-gap", ())
    return [
        Fault(anomaly.detail.replace("expected", "expected index", 1), at=(*anomaly.at, "index")) for anomaly in found
    ]
