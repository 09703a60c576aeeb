from conformance.documents.pointer import REMOVE
from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_NOTHING = {f"/0/response/{at}": REMOVE for at in (3, 2, 1, 0)}


@rule(
    Level.MUST,
    on=streams,
    harm=Harm.LOOP,
    where=lambda stream, _context: stream.value.error is None and not stream.value.anomalies.get("cut"),
    source=Source(
        "https://github.com/deepseek-ai/DeepSeek-V3/issues/1453",
        "deepseek-v4-pro returns empty response (out=0, no content or reasoning) after tool call results are fed back",
    ),
    bad=[example("stream-plain", {**_NOTHING, "/0/response/0": REMOVE})],
    good=[example("stream-plain"), example("stream-tool-calls")],
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """A stream has at least one choice.

    A stream of comments, of token counts or of the end marker alone has status 200 and no reply: clients fail on it, or
    take it for an empty answer. To fix it, fail the request, or end the stream with an error.
    """
    return [] if stream.value.choices else [Fault("expected a choice before the end of the stream, got none")]
