from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import NATIVE, Context, Fault, Source, example, rule
from conformance.schemas import validator
from conformance.wire.native_views import NativeBody, replies


@rule(
    Level.MUST,
    on=replies,
    source=Source(
        package="pypi/anthropic@2.12.0:anthropic/types/message.py",
        quote="This is an array of content blocks, each of which has a `type` that determines its shape",
    ),
    bad=[
        example("messages-session", {"/0/response/usage": REMOVE}),
        example("messages-session", {"/0/response/id": 5}),
        example("responses-session", {"/0/response/id": REMOVE}),
        example("responses-session", {"/1/response/output/0/summary": "Warm.", "/2": REMOVE}),
    ],
    good=[
        example("messages-session"),
        example("messages-stream"),
        example("responses-stream"),
    ],
    wires=NATIVE,
)
def judge(element: NativeBody, _context: Context) -> list[Fault]:
    """A reply on another wire has the keys and types that the wire defines.

    SDKs read replies into types: what is missing or of another type fails in the client, often far from its cause.
    To fix it, answer with what the schema in `schemas/wires/` asks for.
    """
    judge_shape = validator(f"wires/{element.native.protocol}/reply")
    if judge_shape.is_valid(element.value):
        return []
    return [Fault(error.message, at=error.place) for error in judge_shape.errors(element.value)]
