from conformance.documents.pointer import REMOVE
from conformance.protocols.views import NativeBody, streams
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule


@rule(
    Level.MUST,
    on=streams,
    source=Source("https://platform.openai.com/docs/api-reference/responses-streaming"),
    bad=[
        example("responses-stream", {"/0/response/5/sequence_number": 4}),
        example("responses-stream", {"/0/response/5/sequence_number": REMOVE}),
    ],
    good=[example("responses-stream")],
    wires=("responses",),
)
def judge(stream: NativeBody, _context: Context) -> list[Fault]:
    """Every event of a stream has a `sequence_number`, above that of the event before.

    Clients resume a broken stream after the last number that they saw, and sort what arrives out of order. To fix it,
    count the events of a response from 0.
    """
    number = stream.place[0]
    found = stream.native.facts.get("numbering", ())
    return [Fault(each.message, place=(number, *each.place)) for each in found]
