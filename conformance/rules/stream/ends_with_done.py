from conformance.documents.pointer import REMOVE
from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams


def _is_whole(stream: Streamed, _context: Context) -> bool:
    """Return whether the stream is complete: after an error or a cut, a missing end marker is a consequence."""
    value = stream.value
    if value.error is not None:
        return False
    return "cut" not in value.anomalies or "done-undispatched" in value.anomalies or value.done


@rule(
    Level.MUST,
    on=streams,
    harm=Harm.FORM,
    where=_is_whole,
    known_by=lambda claimed: "stream.done" if claimed.claim("stream.done") is False else "",
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/create",
        "with the stream terminated by a data: [DONE] message",
    ),
    bad=[
        example("stream-plain", {"/0/response/5": REMOVE}),
        example("stream-tool-calls", {"/0/response/11": REMOVE}),
    ],
    good=[
        example("stream-plain"),
        example("stream-tool-calls"),
        example("stream-plain", {"/0/response/5": "data: [DONE]\r\n\r\n"}),
    ],
    reads=("stream.done",),
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """A stream ends with the event `data: [DONE]`.

    It tells a client that the reply is complete and the connection did not break. To fix it, send `data: [DONE]` and a
    blank line last; a gateway passes it on.
    """
    anomalies = stream.value.anomalies
    if "done-missing" not in anomalies or "done-undispatched" in anomalies:
        return []
    return [Fault("expected data: [DONE] as the last event, got the end of the stream")]
