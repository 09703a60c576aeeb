from typing import Final

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.schemas import SchemaError
from conformance.wire.elements import Reply
from conformance.wire.views import replies

_FINISH: Final = "finish.missing"
_INDEX: Final = "reply.choice-index"


@rule(
    Level.MUST,
    on=replies,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/chat_completion.py",
        quote="The reason the model stopped generating tokens",
    ),
    bad=[
        example("tool-call", {"/0/response/choices/0/message/tool_calls/0/function/arguments": {"city": "Paris"}}),
        example("plain", {"/0/response/choices/0/message/role": "bot"}),
    ],
    good=[example("plain", {"/0/response/choices/0/finish_reason": ""}, {_FINISH: True})],
    reads=(_FINISH, _INDEX),
    by_schema=True,
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """A choice of a reply has an index, a message and a finish reason of the canonical types.

    If a claim says that the provider omits the finish reason or the index, its absence is known. To fix it, reply with
    the types in `schemas/canonical/response.json`.
    """
    return [
        Fault(error.message, place=error.place, known=_claim(error, context))
        for error in context.shape_errors(reply.place)
    ]


def _claim(error: SchemaError, context: Context) -> str:
    """Return the name of the claim that the key that is missing or empty is omitted; empty if there is none."""
    if error.missing == "index":
        return _INDEX if context.claim(_INDEX) in ("absent", "sometimes") else ""
    is_finish = "finish_reason" in (error.missing, *error.place[-1:])
    return _FINISH if is_finish and context.claim(_FINISH) is True else ""
