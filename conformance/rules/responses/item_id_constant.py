from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, streams


@rule(
    Level.MUST,
    on=streams,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/responses/response_text_delta_event.py",
        quote="The ID of the output item that the text delta was added to",
    ),
    bad=[
        example("responses-stream", {"/0/response/11/item_id": "msg_other"}),
    ],
    good=[example("responses-stream")],
    wires=("responses",),
)
def judge(stream: NativeBody, _context: Context) -> list[Fault]:
    """All events about an item have the id that it was added with.

    Clients find the item of a delta by `item_id`; another id makes them drop the delta, or send back an item that the
    server does not know. To fix it, keep the id of an item from its first event to the end of the response.
    """
    number = stream.place[0]
    found = stream.native.facts.get("ids", ())
    return [Fault(each.message, place=(number, *each.place)) for each in found]
