"""Rule: no character is broken."""

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
    source=Source("https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream"),
    bad=[example("stream-plain", {_CONTENT: "18 \ufffd"})],
    good=[
        example("stream-plain"),
        example("stream-plain", {_CONTENT: "18 °C 日本"}),
        example("stream-plain", {_CONTENT: "18 \ufffd", "/0/request/messages/1/content": "What is \ufffd?"}),
    ],
)
def judge(stream: Streamed, context: Context) -> list[Fault]:
    """The text of a stream is valid UTF-8: no character is cut in two.

    Bytes that are no UTF-8 become U+FFFD, once and for all. Models write characters in pieces, and a server that
    sends each piece as it comes, or a proxy that cuts where its buffer ends, breaks them. To fix it, hold back the
    bytes of a character until it is whole.
    """
    anomalies = stream.value.anomalies
    if "invalid-utf8" in anomalies:
        return [Fault(f"expected UTF-8, got bytes that are none {anomalies['invalid-utf8'][0].detail}")]
    text = context.exchange.response
    if type(text) is not str or (_BROKEN not in text and _ESCAPED not in text):
        return []
    if _BROKEN in repr(context.exchange.request):
        # The model may quote what it was given.
        return []
    return [
        Fault("expected whole characters, got U+FFFD", at=(number,))
        for number, chunk in enumerate(stream.value.chunks)
        if chunk is not None and _BROKEN in repr(chunk)
    ]
