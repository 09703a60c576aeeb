from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_BROKEN = "\ufffd"
_CONTENT = "/0/response/1/choices/0/delta/content"
_ESCAPED = "\\ufffd"


@rule(
    Level.MUST,
    on=streams,
    source=Source(
        "https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream",
        "Streams must be decoded using the UTF-8 decode algorithm.",
    ),
    bad=[example("stream-plain", {_CONTENT: "18 \ufffd"})],
    good=[
        example("stream-plain"),
        example("stream-plain", {_CONTENT: "18 °C 日本"}),
        example("stream-plain", {_CONTENT: "18 \ufffd", "/0/request/messages/1/content": "What is \ufffd?"}),
    ],
)
def judge(stream: Streamed, context: Context) -> list[Fault]:
    """The text of a stream is valid UTF-8; no character is split.

    Bytes that are not UTF-8 become U+FFFD for good. Models emit characters in pieces, and a server that sends each
    piece at once, or a proxy that cuts at the end of its buffer, breaks them. To fix it, hold back the bytes of a
    character until it is complete.
    """
    anomalies = stream.value.anomalies
    if "invalid-utf8" in anomalies:
        return [Fault(f"expected UTF-8, got invalid bytes {anomalies['invalid-utf8'][0].detail}")]
    text = context.exchange.response
    if type(text) is not str or (_BROKEN not in text and _ESCAPED not in text):
        return []
    if _BROKEN in repr(context.exchange.request):
        # The model may quote the request.
        return []
    return [
        Fault("expected whole characters, got U+FFFD", at=(number,))
        for number, chunk in enumerate(stream.value.chunks)
        if chunk is not None and _BROKEN in repr(chunk)
    ]
