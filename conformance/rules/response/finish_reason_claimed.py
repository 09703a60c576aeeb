from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.conditions import reply_has_finish_reason
from conformance.wire.elements import Reply
from conformance.wire.views import replies

_CLAIM = "finish.reasons"
_USUAL = {_CLAIM: ["stop", "length", "tool_calls", "content_filter"]}


@rule(
    Level.MUST,
    on=replies,
    harm=Harm.FORM,
    among=reply_has_finish_reason,
    needs=(_CLAIM,),
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/chat_completion.py",
        quote="The reason the model stopped generating tokens",
    ),
    bad=[
        example("plain", {"/0/response/choices/0/finish_reason": "end_turn"}, _USUAL),
        example("stream-plain", {"/0/response/3/choices/0/finish_reason": "eos"}, _USUAL),
    ],
    good=[
        example("plain", claims=_USUAL),
        example("plain", {"/0/response/choices/0/finish_reason": "sensitive"}, {_CLAIM: ["stop", "sensitive"]}),
    ],
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """The finish reason is one that the provider documents.

    Clients map each value to an action; a value that they do not know ends the loop, or counts as success. To fix it,
    reply with a documented value, or document the new one.
    """
    known = context.claim(_CLAIM)
    if reply.finish_reason in known:
        return []
    message = f"expected one of {', '.join(map(str, known))}, got {reply.finish_reason[:40]!r}"
    return [Fault(message, at=("finish_reason",))]
