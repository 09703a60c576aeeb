"""Rule: one choice of a plain reply."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.parts import Reply
from conformance.wire.views import replies


@rule(
    Level.MUST,
    on=replies,
    source=Source("https://platform.openai.com/docs/api-reference/chat/object"),
    bad=[
        example("tool-call", {"/0/response/choices/0/message/tool_calls/0/function/arguments": {"city": "Paris"}}),
        example("plain", {"/0/response/choices/0/message/role": "bot"}),
    ],
    by_schema=True,
)
def judge(part: Reply, context: Context) -> list[Fault]:
    """A choice of a reply has an index, a message and a finish reason of the canonical types.

    To mend it, reply with the types of `schemas/canonical/response.json`.
    """
    return context.shape_faults(part.place)
