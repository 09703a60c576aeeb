from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.conditions import stream_has_choices
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_PARTS = [{"type": "thinking", "thinking": [{"type": "text", "text": "May is mild."}]}]
_FIELD = "reasoning.response-field"


@rule(
    Level.MUST,
    on=streams,
    among=stream_has_choices,
    when=lambda claimed: not claimed.claims_any(_FIELD, "thinking-parts", "reasoning-parts"),
    source=Source(
        "https://github.com/Arize-ai/openinference/pull/3761",
        "thinking chunks in `delta.content` as a list, then text chunks",
    ),
    bad=[example("stream-plain", {"/0/response/1/choices/0/delta/content": _PARTS})],
    good=[example("stream-plain"), example("stream-plain", {"/0/response/0/choices/0/delta/content": None})],
    reads=(_FIELD,),
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """The content of a streamed choice is always a string, or always a list of parts.

    A client that appends gets `[object Object]` in the text, or fails. To fix it, stream reasoning in a field of its
    own, or claim the parts for a provider that documents them.
    """
    found = stream.value.anomalies.get("content-type-changed", ())
    return [Fault(f"expected content of one type, got a change {anomaly.detail}", at=anomaly.at) for anomaly in found]
