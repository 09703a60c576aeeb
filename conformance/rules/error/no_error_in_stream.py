from conformance.results import Harm, Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import AnyStream
from conformance.wire.views import all_streams

_ERROR = 400
_FAILED = {"error": {"message": "The upstream is gone.", "code": 502}}
_OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
_STOPPED = {"type": "error", "sequence_number": 21, "code": "server_error", "message": "Gone.", "param": None}
_IS_FAILED = {
    "/0/response/21/response/status": "failed",
    "/0/response/21/response/error": {"code": "server_error", "message": "Gone."},
}


@rule(
    Level.MUST,
    on=all_streams,
    harm=Harm.LOOP,
    # Of an error status, error/body-is-object says what an event is.
    where=lambda _stream, context: (context.exchange.status or 0) < _ERROR,
    source=Source(
        "https://github.com/ggml-org/llama.cpp/issues/14566",
        "returning the error while interacting with the LLM as part of the streamed response",
    ),
    bad=[
        example("stream-plain", {"/0/response/4": _FAILED}),
        example("stream-tool-calls", {"/0/response/10": 'event: error\ndata: {"error": {"message": "Gone."}}\n\n'}),
        example("messages-stream", {"/0/response/10": _OVERLOADED}),
        example("responses-stream", {"/0/response/21": _STOPPED}),
        example("responses-stream", {"/0/response/21/type": "response.failed", **_IS_FAILED}),
        example("gemini-stream", {"/0/response/-": _FAILED}),
    ],
    good=[example("stream-plain"), example("stream-tool-calls"), example("responses-stream")],
    wires=EVERY,
)
def judge(stream: AnyStream, _context: Context) -> list[Fault]:
    """A stream contains no error.

    Its status is already 200, so a client that reads only texts takes what came before as the whole reply. To fix it,
    check the request before the first event, so that a rejection has its own status. A later failure has to be sent as
    an event, and clients have to look for it.
    """
    return [Fault(f"expected no error in a stream, got {error.detail}", at=error.at) for error in stream.errors]
