from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import reply_can_obey, reply_to_tool_choice
from conformance.wire.elements import Reply
from conformance.wire.views import replies

_MESSAGE = "/0/response/choices/0/message"
_REQUIRED = {"/0/request/tool_choice": "required"}


def _is_required(reply: Reply, context: Context) -> bool:
    return (
        reply.request is not None
        and reply.request.get("tool_choice") == "required"
        and bool(reply.request.get("tools"))
        and reply_can_obey(reply, context, "required")
    )


@rule(
    Level.MUST,
    on=replies,
    among=reply_to_tool_choice,
    where=_is_required,
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/create", "the model must call one or more tools"
    ),
    bad=[
        example(
            "tool-call",
            {
                **_REQUIRED,
                f"{_MESSAGE}/tool_calls": REMOVE,
                f"{_MESSAGE}/content": "It is mild.",
                "/0/response/choices/0/finish_reason": "stop",
            },
        ),
    ],
    good=[example("tool-call", _REQUIRED), example("tool-call-parallel", _REQUIRED)],
    reads=("tools.choices-obeyed",),
    wires=EVERY,
)
def judge(reply: Reply, _context: Context) -> list[Fault]:
    """A reply has a tool call if `tool_choice` is `required`.

    Agent loops that end with the call of a last tool never end without it. To fix it, constrain decoding to a call, or
    reject the request.
    """
    return (
        []
        if reply.calls
        else [Fault("expected a tool call, because tool_choice is required, got none", at=("message",))]
    )
