from conformance.results import Level
from conformance.rules import NATIVE, Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, streams


@rule(
    Level.MUST,
    on=streams,
    source=Source(
        "https://platform.claude.com/docs/en/build-with-claude/streaming",
        "Each content block has an `index` that corresponds to its index in the final Message `content` array.",
    ),
    bad=[
        example("messages-stream", {f"/0/response/{number}/index": 2 for number in (5, 6, 7, 8)}),
        example("messages-stream", {"/0/response/4": {"type": "ping"}}),
        example("responses-stream", {"/0/response/14": {"type": "keepalive", "sequence_number": 14}}),
        example("responses-stream", {"/0/response/-": {"type": "keepalive", "sequence_number": 22}}),
    ],
    good=[example("messages-stream"), example("responses-stream")],
    wires=NATIVE,
)
def judge(stream: NativeBody, _context: Context) -> list[Fault]:
    """The events of a stream on another wire come in the order, and with the indexes, of that wire.

    A client assembles a reply from them: blocks that overlap, indexes that jump and events after the end give it
    another reply than the one that was meant, or an error. To fix it, open, fill and close one part after the other.
    """
    number = stream.place[0]
    return [Fault(each.message, place=(number, *each.place)) for each in stream.native.irregularities]
