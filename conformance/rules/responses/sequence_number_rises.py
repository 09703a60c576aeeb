from conformance.documents.pointer import REMOVE
from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, streams


@rule(
    Level.MUST,
    on=streams,
    harm=Harm.FORM,
    source=Source(
        "https://platform.openai.com/docs/api-reference/responses/get",
        "The sequence number of the event after which to start streaming.",
    ),
    bad=[
        example("responses-stream", {"/0/response/5/sequence_number": 4}),
        example("responses-stream", {"/0/response/5/sequence_number": REMOVE}),
        example("responses-stream", {"/0/response/21/sequence_number": 23}),
    ],
    good=[
        example("responses-stream"),
        example("responses-stream", {f"/0/response/{number}/sequence_number": number + 7 for number in range(22)}),
    ],
    wires=("responses",),
)
def judge(stream: NativeBody, _context: Context) -> list[Fault]:
    """Every event of a stream has a `sequence_number`, one above that of the event before.

    Clients resume a broken stream after the last number that they saw, and sort what arrives out of order. A gap, which
    no recorded stream has, looks like a lost event; it is a SHOULD. To fix it, count the events of a response from 0.
    """
    number = stream.place[0]
    found = stream.native.facts.get("numbering", ())
    return [
        Fault(each.message, place=(number, *each.place), level=Level.SHOULD if each.kind == "sequence-gap" else None)
        for each in found
    ]
