from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams


@rule(
    Level.SHOULD,
    on=streams,
    harm=Harm.FORM,
    where=lambda stream, _context: stream.value.done or "done-undispatched" in stream.value.anomalies,
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/create",
        "with the stream terminated by a `data: [DONE]` message.",
    ),
    bad=[
        example("stream-plain", {"/0/response/5": "data: [DONE]"}),
        example("stream-plain", {"/0/response/5": "data: [DONE]\n"}),
        example("stream-plain", {"/0/response/5": "data: [DONE] \n\n"}),
    ],
    good=[example("stream-plain"), example("stream-plain", {"/0/response/5": "data:[DONE]\r\n\r\n"})],
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """The end marker is exactly `[DONE]`, followed by a blank line.

    By the standard, an event without a blank line after it is never dispatched, and a client that compares the data
    with `[DONE]` does not match a trailing space. To fix it, send `data: [DONE]` and an empty line.
    """
    anomalies = stream.value.anomalies
    if "done-undispatched" in anomalies:
        return [Fault("expected a blank line after data: [DONE], got the end of the stream")]
    found = anomalies.get("done-inexact", ())
    return [Fault(f"expected [DONE] and nothing else, got {anomaly.detail}", at=anomaly.at) for anomaly in found]
