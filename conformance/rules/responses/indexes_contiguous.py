from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, streams


@rule(
    Level.MUST,
    on=streams,
    harm=Harm.CONTENT,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/responses/response_text_delta_event.py",
        quote="The index of the content part that the text delta was added to",
    ),
    bad=[
        example("responses-stream", {f"/0/response/{number}/content_index": 1 for number in range(10, 15)}),
        example("responses-stream", {f"/0/response/{number}/summary_index": 1 for number in range(3, 8)}),
    ],
    good=[example("responses-stream")],
    wires=("responses",),
)
def judge(stream: NativeBody, _context: Context) -> list[Fault]:
    """Items, content parts and summary parts of a stream are numbered from 0, without gaps.

    Clients put each item and part at its index: a missing or jumping one loses text or fails. To fix it, send
    `output_index` with every event of an item, `content_index` and `summary_index` with every event of a part.
    """
    number = stream.place[0]
    found = stream.native.facts.get("indexes", ())
    return [Fault(each.message, place=(number, *each.place)) for each in found]
