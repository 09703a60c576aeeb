from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, streams

_CALL = {
    "type": "response.output_item.added",
    "sequence_number": 15,
    "output_index": 2,
    "item": {"type": "function_call", "id": "fc_01", "call_id": "call_a", "name": "get_weather", "arguments": ""},
}
_MESSAGE = {
    "type": "response.output_item.done",
    "sequence_number": 16,
    "output_index": 1,
    "item": {
        "type": "message",
        "id": "msg_01",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}],
    },
}


@rule(
    Level.SHOULD,
    on=streams,
    harm=Harm.FORM,
    source=Source("https://platform.openai.com/docs/api-reference/responses-streaming"),
    bad=[
        example("responses-stream", {"/0/response/15": _CALL, "/0/response/16": _MESSAGE}),
    ],
    good=[example("responses-stream")],
    wires=("responses",),
)
def judge(stream: NativeBody, _context: Context) -> list[Fault]:
    """An item of a stream is done before the next one is added.

    Clients that keep one open item attach what follows to the wrong one. To fix it, finish an item before the next.
    """
    number = stream.place[0]
    found = stream.native.facts.get("overlaps", ())
    return [Fault(each.message, place=(number, *each.place)) for each in found]
