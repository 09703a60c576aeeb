from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import reply_can_obey, reply_to_tool_choice
from conformance.wire.elements import Reply
from conformance.wire.views import replies

_MESSAGE = "/0/response/choices/0/message"
_CHOICE = {"type": "function", "function": {"name": "get_weather"}}
_OTHER = {"type": "function", "function": {"name": "get_time"}}


def _is_named(reply: Reply, context: Context) -> bool:
    body = reply.request
    choice = body.get("tool_choice") if body is not None else None
    return type(choice) is dict and type(choice.get("function")) is dict and reply_can_obey(reply, context, "named")


@rule(
    Level.MUST,
    on=replies,
    among=reply_to_tool_choice,
    where=_is_named,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create", "forces the model to call that tool"),
    bad=[
        example(
            "tool-call",
            {
                "/0/request/tool_choice": _CHOICE,
                f"{_MESSAGE}/tool_calls": REMOVE,
                f"{_MESSAGE}/content": "It is mild.",
                "/0/response/choices/0/finish_reason": "stop",
            },
        ),
        example("tool-call", {"/0/request/tools/-": _OTHER, "/0/request/tool_choice": _OTHER}),
    ],
    good=[example("tool-call", {"/0/request/tool_choice": _CHOICE})],
    reads=("tools.choices-obeyed",),
    wires=EVERY,
)
def judge(reply: Reply, _context: Context) -> list[Fault]:
    """A reply calls the function that `tool_choice` names, and no other.

    Structured output depends on it: clients read the call's arguments and nothing else. To fix it, constrain decoding
    to that function, or reject the request; a reply in words is neither.
    """
    wanted = reply.request["tool_choice"]["function"].get("name") if reply.request is not None else None
    if not reply.calls:
        return [Fault(f"expected a call of {wanted!r:.60}, got none", at=("message",))]
    expected = f"expected a call of {wanted!r:.60}, got one of"
    return [
        Fault(f"{expected} {call.name!r:.60}", place=(*call.place, "function", "name"))
        for call in reply.calls
        if call.name != wanted
    ]
