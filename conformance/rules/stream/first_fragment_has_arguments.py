"""Rule: the first fragment of a call begins its arguments."""

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_FIRST = "/0/response/3/choices/0/delta/tool_calls/0/function/arguments"


def _is_judged(stream: Streamed, context: Context) -> bool:
    return stream.has_calls and not context.says("stream.first-arguments", "absent", "null")


@rule(
    Level.SHOULD,
    on=streams,
    where=_is_judged,
    source=Source("https://platform.openai.com/docs/api-reference/chat/streaming"),
    bad=[example("stream-tool-calls", {_FIRST: REMOVE}), example("stream-tool-calls", {_FIRST: None})],
    good=[example("stream-tool-calls"), example("stream-tool-calls", claims={"stream.first-arguments": "empty"})],
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """The first fragment of a streamed tool call has arguments, a string that may be empty.

    Clients begin with that string and append to it; where it is absent or null, some write `undefined` or `None` into
    the arguments, and others fail. To fix it, send `"arguments": ""` where there is nothing yet.
    """
    found = stream.value.anomalies.get("arguments-missing", ())
    return [
        Fault(
            f"expected arguments in the call's first fragment, got {_got(anomaly.detail)}", at=(*anomaly.at, "function")
        )
        for anomaly in found
    ]


def _got(detail: str) -> str:
    return "none" if detail == "absent" else detail
