from conformance.results import Level
from conformance.rules import WITH_IDS, Context, Fault, Source, example, rule
from conformance.rules.conditions import reply_has_calls
from conformance.wire.elements import Reply
from conformance.wire.keys import key_of
from conformance.wire.views import replies

_NEXT = "/0/response/choices/0"
_CALL = {"id": "call_b", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}}


@rule(
    Level.SHOULD,
    on=replies,
    among=reply_has_calls,
    where=lambda _reply, context: context.has_turns,
    source=Source(
        "https://github.com/QwenLM/qwen-code/issues/5099",
        "When the provider reuses tool-call id `dup_id_0001` across turns, Qwen Code sends duplicate tool-result "
        "entries",
    ),
    bad=[
        example(
            "tool-result",
            {f"{_NEXT}/message/tool_calls": [{**_CALL, "id": "call_a"}], f"{_NEXT}/finish_reason": "tool_calls"},
        ),
    ],
    good=[
        example("tool-result", {f"{_NEXT}/message/tool_calls": [_CALL], f"{_NEXT}/finish_reason": "tool_calls"}),
        example("thinking-session"),
    ],
    wires=WITH_IDS,
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """The tool call ids of a reply differ from those in its request.

    The wire stays valid without it, because results directly follow their calls and in order, but clients and hosts
    that look ids up in the whole conversation pair a result with the wrong call. To fix it, make ids unique in the
    conversation, not only in the reply.
    """
    faults = []
    for call in reply.calls:
        number = context.sent_ids.first.get(key_of(call.id)) if call.id else None
        if number is not None:
            message = f"expected an id that no earlier call has, got {call.id!r:.60} as in message {number}"
            faults.append(Fault(message, place=(*call.place, "id")))
    return faults
