from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, envelope, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import chunks


@rule(
    Level.MUST,
    on=chunks,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/chat_completion_chunk.py",
        quote="Represents a streamed chunk of a chat completion response returned by the model",
    ),
    bad=[
        example("stream-plain", {"/0/response/1/choices": "none"}),
        example("stream-plain", {"/0/response/1/choices/0/delta/content": 7}),
    ],
    good=[
        example("stream-plain", {"/0/response/1/object": ""}, {"stream.object": ["chat.completion.chunk", ""]}),
        example("stream-plain", {"/0/response/1/created": REMOVE}, {"reply.omitted-fields": ["created"]}),
        example("stream-plain", {"/0/response/1/id": REMOVE}, {"stream.chunk-id": "absent"}),
    ],
    reads=("stream.object", "reply.omitted-fields", "stream.chunk-id"),
    by_schema=True,
)
def judge(chunk: Body, context: Context) -> list[Fault]:
    """A chunk of a stream has the shape of a chat completion chunk.

    Unknown keys are allowed. Keys that a claim says are omitted or empty are known. To fix it, send the types in
    `schemas/canonical/chunk.json`.
    """
    return envelope.faults(chunk, context, "stream.object")
