"""Rule: ids do not come again in later replies."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Reply
from conformance.wire.views import replies

_NEXT = "/0/response/choices/0"
_CALL = {"id": "call_b", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}}


@rule(
    Level.SHOULD,
    on=replies,
    where=lambda reply, context: bool(reply.calls) and _follows_calls(reply, context),
    source=Source("https://github.com/QwenLM/qwen-code/issues/8382"),
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
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """The ids of a reply's tool calls differ from those of the calls in its request.

    The wire stays right without it, because results stand directly after their calls and in order, but clients and
    hosts that look ids up over the whole conversation pair a result with the wrong call. To fix it, make ids unique
    in the conversation, not in the reply alone.
    """
    number = reply.place[0]
    faults = []
    for call in reply.calls:
        for turn in context.index.turns:
            if call.id in turn.ids and call.id and turn.place[0] == number:
                message = f"expected an id that no earlier call has, got {call.id!r:.60} as in message {turn.number}"
                faults.append(Fault(message, place=(*call.place, "id")))
                break
    return faults


def _follows_calls(reply: Reply, context: Context) -> bool:
    return any(turn.place[0] == reply.place[0] for turn in context.index.turns)
