from conformance.documents.pointer import REMOVE
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
    known_by=described_by("stream.index", "absent", "sometimes-absent"),
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/chat_completion_chunk.py",
        quote="class ChoiceDeltaToolCall(BaseModel): index: int",
    ),
    bad=[
        example("stream-tool-calls", {"/0/response/4/choices/0/delta/tool_calls/0/index": REMOVE}),
        example("stream-tool-calls", {"/0/response/8/choices/0/delta/tool_calls/0/index": None}),
    ],
    good=[example("stream-tool-calls"), example("stream-tool-calls", claims={"stream.index": "present"})],
    reads=("stream.index",),
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """Every fragment of a streamed tool call has an index.

    Only the index says which call a fragment belongs to; without it, parallel calls get mixed up. To fix it, number the
    calls of a message from 0 and repeat the number in each fragment.
    """
    found = stream.value.anomalies.get("index-missing", ())
    return [Fault(f"expected an integer index, got {_got(anomaly.detail)}", at=anomaly.at) for anomaly in found]


def _got(detail: str) -> str:
    return "none" if detail == "absent" else detail.removeprefix("got ")
