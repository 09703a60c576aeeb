from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, streams


@rule(
    Level.MUST,
    on=streams,
    harm=Harm.CONTENT,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/responses/response_text_done_event.py",
        quote="The text content that is finalized",
    ),
    bad=[
        example("responses-stream", {"/0/response/12/delta": " see."}),
        example("responses-stream", {"/0/response/21/response/output/2/arguments": "{}"}),
        example("responses-stream", {"/0/response/21/response/output": []}),
    ],
    good=[example("responses-stream")],
    wires=("responses",),
)
def judge(stream: NativeBody, _context: Context) -> list[Fault]:
    """The deltas of a stream, its done events and the response at its end say the same.

    Some clients add up deltas, others take the done event or the last response; if these differ, they run another call
    or show another text. To fix it, make all of them from one value.
    """
    number = stream.place[0]
    found = stream.native.facts.get("differences", ())
    return [Fault(each.message, place=(number, *each.place)) for each in found]
