from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.open_responses_form import CLAIM, FOLLOWED, SPECIFICATION, is_followed
from conformance.wire.native_views import NativeBody, streams

_DONE = "[DONE]"


@rule(
    Level.MUST,
    on=streams,
    when=is_followed,
    source=Source(SPECIFICATION, "The terminal event MUST be the literal string `[DONE]`."),
    bad=[example("open-responses-stream", {"/0/response/15": REMOVE}, FOLLOWED)],
    good=[example("open-responses-stream", claims=FOLLOWED)],
    needs=(CLAIM,),
    wires=("responses",),
)
def judge(stream: NativeBody, _context: Context) -> list[Fault]:
    """A stream ends with `[DONE]`, as Open Responses requires.

    OpenAI's own API does not send it, so clients must do without as well. To fix it, send `data: [DONE]` and an empty
    line after the last event.
    """
    text = stream.native.response
    if type(text) is not str or text.rstrip().endswith(_DONE):
        return []
    return [Fault("expected [DONE] after the last event, got the end of the stream")]
