from conformance.documents.pointer import REMOVE
from conformance.protocols.views import NativeBody, events
from conformance.results import Level
from conformance.rules import NATIVE, Context, Fault, Source, example, rule
from conformance.schemas import validator


@rule(
    Level.MUST,
    on=events,
    source=Source("https://platform.claude.com/docs/en/build-with-claude/streaming"),
    bad=[
        example("messages-stream", {"/0/response/9/usage": 5}),
        example("messages-stream", {"/0/response/9/delta": REMOVE, "/0/response/9/type": "message_delta"}),
        example("responses-stream", {"/0/response/10/part": REMOVE}),
    ],
    good=[
        example("messages-stream"),
        example("responses-stream"),
    ],
    wires=NATIVE,
)
def judge(element: NativeBody, _context: Context) -> list[Fault]:
    """An event of a stream on another wire has the keys and types that the wire defines.

    SDKs read each event into a type: what is missing or of another type ends the stream in the client. To fix it, send
    what the schema in `schemas/protocols/` asks for.
    """
    judge_shape = validator(f"protocols/{element.native.protocol}/event")
    if judge_shape.is_valid(element.value):
        return []
    return [Fault(error.message, at=error.place) for error in judge_shape.errors(element.value)]
