from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import chunks


@rule(
    Level.MUST,
    on=chunks,
    source=Source("https://platform.openai.com/docs/api-reference/chat/streaming"),
    bad=[
        example("stream-plain", {"/0/response/1/choices": "none"}),
        example("stream-plain", {"/0/response/1/choices/0/delta/content": 7}),
    ],
    by_schema=True,
)
def judge(chunk: Body, context: Context) -> list[Fault]:
    """A chunk of a stream has the shape of a chat completion chunk.

    Unknown keys are allowed. To fix it, send the types in `schemas/canonical/chunk.json`.
    """
    return context.shape_faults(chunk.place)
