from conformance.documents.pointer import REMOVE
from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, described_by, example, rule
from conformance.rules.conditions import stream_has_calls
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_FIRST = "/0/response/3/choices/0/delta/tool_calls/0/function/arguments"


@rule(
    Level.SHOULD,
    on=streams,
    harm=Harm.FORM,
    among=stream_has_calls,
    known_by=described_by("stream.first-arguments", "absent", "null"),
    source=Source(
        "https://github.com/BerriAI/litellm/issues/20480",
        'chunk 1: { index: 0, id: "call_abc", type: "function", function: { name: "search", arguments:',
    ),
    bad=[example("stream-tool-calls", {_FIRST: REMOVE}), example("stream-tool-calls", {_FIRST: None})],
    good=[example("stream-tool-calls"), example("stream-tool-calls", claims={"stream.first-arguments": "empty"})],
    reads=("stream.first-arguments",),
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """The first fragment of a streamed tool call has an arguments string, which may be empty.

    Clients start with that string and append to it. If it is absent or null, some write `undefined` or `None` into the
    arguments, and others fail. To fix it, send `"arguments": ""` in the first fragment.
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
