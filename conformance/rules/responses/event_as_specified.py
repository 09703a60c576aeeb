from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.open_responses_form import CLAIM, DOCUMENT, FOLLOWED, faults, is_followed
from conformance.wire.native_views import NativeBody, events


@rule(
    Level.MUST,
    on=events,
    when=is_followed,
    source=Source(DOCUMENT, "The sequence number of the event that was emitted."),
    bad=[example("open-responses-stream", {"/0/response/1/response/completed_at": REMOVE}, FOLLOWED)],
    good=[example("open-responses-stream", claims=FOLLOWED)],
    needs=(CLAIM,),
    wires=("responses",),
)
def judge(event: NativeBody, _context: Context) -> list[Fault]:
    """An event of a stream has the form that Open Responses gives it.

    Each snapshot of the response is whole as well. To fix it, send what the schema
    `schemas/wires/responses/open-responses.json` requires; an event of your own has a type that begins with your name
    and a colon.
    """
    return faults("event", event.value)
