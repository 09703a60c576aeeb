"""Rule: one choice of a plain reply."""

from dataclasses import replace

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
    by_schema=True,
)
def judge(part: Reply, context: Context) -> list[Fault]:
    """A choice of a reply has an index, a message and a finish reason of the canonical types.

    Where the provider is known to give no finish reason, its absence is no must. To fix it, reply with the types of
    `schemas/canonical/response.json`.
    """
    faults = context.shape_faults(part.place)
    if context.claim("finish.missing") is not True:
        return faults
    return [replace(each, level=Level.SHOULD) if _is_missing(each) else each for each in faults]


def _is_missing(fault: Fault) -> bool:
    return (fault.place or ())[-1:] == ("finish_reason",) or "finish_reason" in fault.message.partition(",")[0]
