from conformance.results import Level
from conformance.rules import NATIVE, Context, Fault, Source, example, rule
from conformance.rules.context import as_words
from conformance.wire.elements import Body
from conformance.wire.plain import body_in_words
from conformance.wire.views import errors

_TEXT = "text"
_REFUSED = {"type": "error", "error": {"type": "invalid_request_error", "message": "messages: required"}}
_REFUSED_BY_EVENT = (
    'event: error\ndata: {"type": "error", "error": {"type": "invalid_request_error", "message": "No."}}\n\n'
)
_AS_EVENT = 'data: {"error": {"code": 400, "message": "contents is not specified", "status": "INVALID_ARGUMENT"}}'


@rule(
    Level.MUST,
    on=errors,
    source=Source("https://platform.claude.com/docs/en/api/errors", "Errors are always returned as JSON"),
    bad=[
        example("messages-plain", {"/0/status": 400, "/0/response": "messages: at least one is required"}),
        example("gemini-result", {"/0/status": 400, "/0/response": _AS_EVENT}),
        example("responses-request", {"/0/status": 400, "/0/response": "Invalid value: 'input'"}),
        example("messages-stream", {"/0/status": 400, "/0/response": _REFUSED_BY_EVENT}),
    ],
    good=[
        example("messages-plain", {"/0/status": 400, "/0/response": _REFUSED}),
        example("messages-plain", {"/0/status": 400, "/0/response": "Not Found"}, {"error.shape": _TEXT}),
    ],
    reads=("error.shape",),
    wires=NATIVE,
)
def judge(answer: Body, context: Context) -> list[Fault]:
    """The body of an error is a JSON object.

    SDKs read the type and the message of an error from it, and decide by them whether to try again: of a text they
    know the status alone, and of an event no more, though the client asked for a stream. To fix it, send the error as
    the wire has it, also where a proxy or a framework refuses.
    """
    native = answer.exchange.native
    value = answer.value if native is None else native.response
    is_list = type(value) is list and bool(value) and type(value[0]) is dict
    if type(value) is dict or is_list or _TEXT in as_words(context.claim("error.shape")):
        return []
    return [Fault(f"expected a JSON object, got {body_in_words(value)}")]
