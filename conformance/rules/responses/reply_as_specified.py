from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.open_responses_form import CLAIM, DOCUMENT, FOLLOWED, faults, is_followed
from conformance.wire.native_views import NativeBody, replies


@rule(
    Level.MUST,
    on=replies,
    when=is_followed,
    source=Source(DOCUMENT, "The complete response object that was returned by the Responses API."),
    bad=[example("open-responses", {"/0/response/completed_at": REMOVE}, FOLLOWED)],
    good=[example("open-responses", claims=FOLLOWED)],
    needs=(CLAIM,),
    wires=("responses",),
)
def judge(reply: NativeBody, _context: Context) -> list[Fault]:
    """A response has every member that Open Responses requires, in its form.

    The specification lets no member out: what was not asked for is null or has its default, so that a client can read
    how the response was made. To fix it, add what the schema `schemas/wires/responses/open-responses.json` requires;
    an item or a tool of your own has a type that begins with your name and a colon.
    """
    return faults("response", reply.value)
