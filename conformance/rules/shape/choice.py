from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.schemas import SchemaError
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
    known = {"finish_reason"} if context.claim("finish.missing") is True else set()
    return [
        Fault(error.message, place=error.place, level=Level.SHOULD if _is_known(error, known, context) else None)
        for error in context.shape_errors(reply.place)
    ]


def _is_known(error: SchemaError, known: set[str], context: Context) -> bool:
    """Return whether the provider is known to omit the key that is missing or empty."""
    if error.missing == "index":
        return context.claim("reply.choice-index") in ("absent", "sometimes")
    return not known.isdisjoint((error.missing, *error.place[-1:]))
