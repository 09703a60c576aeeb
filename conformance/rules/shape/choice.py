from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Reply
from conformance.wire.views import replies


@rule(
    Level.MUST,
    on=replies,
    source=Source("https://platform.openai.com/docs/api-reference/chat/object"),
    bad=[
        example("tool-call", {"/0/response/choices/0/message/tool_calls/0/function/arguments": {"city": "Paris"}}),
        example("plain", {"/0/response/choices/0/message/role": "bot"}),
    ],
    reads=("finish.missing", "reply.choice-index"),
    by_schema=True,
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """A choice of a reply has an index, a message and a finish reason of the canonical types.

    If the provider is known to omit the finish reason or the index, its absence is only a SHOULD. To fix it, reply with
    the types in `schemas/canonical/response.json`.
    """
    tolerated = set()
    if context.claim("finish.missing") is True:
        tolerated.add("finish_reason")
    if not reply.streamed and context.claim("reply.choice-index") in ("absent", "sometimes"):
        tolerated.add("index")
    return [
        Fault(
            error.message,
            place=error.place,
            level=None if tolerated.isdisjoint((error.missing, *error.place[-1:])) else Level.SHOULD,
        )
        for error in context.shape_errors(reply.place)
    ]
