from collections import Counter

from conformance.documents.pointer import Place
from conformance.results import Harm, Level
from conformance.rules import Claimed, Context, Fault, Source, example, rule
from conformance.rules.conditions import stream_has_finish
from conformance.wire.elements import Streamed
from conformance.wire.views import streams


def _repeated_by(claimed: Claimed) -> str:
    if claimed.claim("finish.several") is True:
        return "finish.several"
    return "stream.after-finish" if claimed.claims_any("stream.after-finish", "finish") else ""


@rule(
    Level.MUST,
    on=streams,
    harm=Harm.FORM,
    among=stream_has_finish,
    known_by=_repeated_by,
    source=Source(
        "https://github.com/langchain-ai/langchain/pull/38349",
        'emit two consecutive streaming chunks with `choices[0].finish_reason="stop"`',
    ),
    bad=[
        example(
            "stream-plain",
            {"/0/response/4/choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        ),
        example("stream-tool-calls", {"/0/response/8/choices/0/finish_reason": "tool_calls"}),
    ],
    good=[
        example("stream-plain"),
        example("stream-tool-calls"),
    ],
    reads=("finish.several", "stream.after-finish"),
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """Each choice of a stream has one finish reason.

    A client acts on the first: it runs tools and closes the stream, and misses what comes with the second. To fix it,
    send the reason once, in the last chunk of the choice.
    """
    found = stream.value.anomalies.get("finish", ())
    if len(found) <= 1:
        return []
    seen: Counter[int] = Counter()
    faults = []
    for anomaly in found:
        index = _index(stream, anomaly.at)
        seen[index] += 1
        if seen[index] > 1:
            faults.append(Fault(f"expected no second finish_reason, got {anomaly.detail}", at=anomaly.at))
    return faults


def _index(stream: Streamed, at: Place) -> int:
    """Return the index of the choice with a finish reason at `<event>/choices/<position>/finish_reason`."""
    event, position = int(at[0]), int(at[2])
    index = (stream.value.chunks[event] or {})["choices"][position].get("index")
    return index if type(index) is int else position
