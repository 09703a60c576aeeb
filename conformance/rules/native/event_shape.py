from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import NATIVE, Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, events


@rule(
    Level.MUST,
    on=events,
    source=Source(
        "https://platform.claude.com/docs/en/build-with-claude/streaming",
        "Each server-sent event includes a named event type and associated JSON data.",
    ),
    bad=[
        example("messages-stream", {"/0/response/9/usage": 5}),
        example("messages-stream", {"/0/response/9/delta": REMOVE, "/0/response/9/type": "message_delta"}),
        example("responses-stream", {"/0/response/10/part": REMOVE}),
    ],
    good=[
        example("messages-stream"),
        example("responses-stream"),
    ],
    by_schema=True,
    wires=NATIVE,
)
def judge(event: NativeBody, context: Context) -> list[Fault]:
    """An event of a stream on another wire has the keys and types that the wire defines.

    SDKs read each event into a type: what is missing or of another type ends the stream in the client. To fix it, send
    what the schema in `schemas/wires/` asks for.
    """
    return [Fault(error.message, place=error.place) for error in context.shape_errors(event.place)]
