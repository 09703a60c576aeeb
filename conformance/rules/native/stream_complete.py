from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import NATIVE, Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, streams


@rule(
    Level.MUST,
    on=streams,
    source=Source("https://platform.claude.com/docs/en/build-with-claude/streaming", "A final `message_stop` event."),
    bad=[
        example("messages-stream", {"/0/response/10": REMOVE}),
        example("responses-stream", {"/0/response/21": REMOVE}),
    ],
    good=[example("messages-stream"), example("responses-stream")],
    wires=NATIVE,
)
def judge(stream: NativeBody, _context: Context) -> list[Fault]:
    """A stream on another wire ends with the event that the wire defines for its end.

    Without it, a client cannot tell a finished reply from one that was cut off. An error that the stream reports is an
    end, too. To fix it, send the last event, also after a failure.
    """
    native = stream.native
    if native.complete or "error" in native.facts:
        return []
    return [Fault("expected the event that ends the stream, got none")]
