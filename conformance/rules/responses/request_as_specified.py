from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.open_responses_form import CLAIM, DOCUMENT, FOLLOWED, faults, is_followed
from conformance.wire.native_views import NativeBody, requests


@rule(
    Level.MUST,
    on=requests,
    when=is_followed,
    source=Source(DOCUMENT, "A list of tools that the model may call while generating the response."),
    bad=[
        example("open-responses", {"/0/request/max_output_tokens": 5}, FOLLOWED),
        example("open-responses", {"/0/request/truncation": "sometimes"}, FOLLOWED),
    ],
    good=[example("open-responses", claims=FOLLOWED)],
    needs=(CLAIM,),
    wires=("responses",),
)
def judge(request: NativeBody, _context: Context) -> list[Fault]:
    """A request has the form that Open Responses gives it.

    A server of any vendor can read that. To fix it, send what the schema `schemas/wires/responses/open-responses.json`
    allows.
    """
    return faults("request", request.value)
