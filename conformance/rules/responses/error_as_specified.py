from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.open_responses_form import CLAIM, DOCUMENT, FOLLOWED, faults, is_followed
from conformance.wire.elements import Body
from conformance.wire.views import errors

_ERROR = {"message": "Missing model.", "type": "invalid_request", "code": None, "param": "model"}


@rule(
    Level.MUST,
    on=errors,
    when=is_followed,
    source=Source(DOCUMENT, "The parameter name that was associated with the error, if any."),
    bad=[
        example("responses-request", {"/0/status": 400, "/0/response": {"detail": "Missing model."}}, FOLLOWED),
        example("responses-request", {"/0/status": 400, "/0/response": {"error": {"message": "No."}}}, FOLLOWED),
    ],
    good=[example("responses-request", {"/0/status": 400, "/0/response": {"error": _ERROR}}, FOLLOWED)],
    needs=(CLAIM,),
    wires=("responses",),
)
def judge(answer: Body, _context: Context) -> list[Fault]:
    """An error has a message, a type, a code and a param, as Open Responses has them.

    Clients decide by them whether to try again, and what to change. To fix it, send `{"error": {"message", "type",
    "code", "param"}}`, with null for what there is nothing to say about.
    """
    native = answer.exchange.native
    return faults("error-body", answer.value if native is None else native.response)
