from typing import Any, Final

import orjson

from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import has_server_call, reply_has_calls
from conformance.wire.elements import Call, Reply
from conformance.wire.values import rendered
from conformance.wire.views import replies

_CALLS: Final = "/0/response/choices/0/message/tool_calls"
_ROME: Final = {
    "id": "call_c",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'},
}
_SECOND: Final = "/0/response/8/choices/0/delta/tool_calls/0/function/arguments"


@rule(
    Level.SHOULD,
    on=replies,
    among=reply_has_calls,
    where=lambda reply, context: len(reply.calls) > 1 and not has_server_call(context),
    source=Source("https://github.com/rbb-dev/Open-WebUI-OpenRouter-pipe/pull/54", "and therefore executed twice"),
    bad=[
        example("tool-call-parallel", {f"{_CALLS}/-": _ROME}),
        example("tool-call-parallel", {f"{_CALLS}/0/function/arguments": '{"city":"Rome"}'}),
        example("stream-tool-calls", {_SECOND: '"Paris"}'}),
    ],
    good=[
        example("tool-call-parallel"),
        example("stream-tool-calls"),
        example(
            "tool-call-parallel",
            {
                "/0/request/tools/0/function/parameters": {"type": "object", "properties": {}},
                f"{_CALLS}/0/function/arguments": "{}",
                f"{_CALLS}/1/function/arguments": "{}",
            },
        ),
    ],
    wires=EVERY,
)
def judge(reply: Reply, _context: Context) -> list[Fault]:
    """No two calls of a reply have the same name and the same arguments.

    A client runs both: a message is sent twice, a payment made twice. Models do call a function twice on purpose: one
    without arguments, or in code that they run at the server; these are exempt. It is no MUST, since a reply does not
    show whether the model repeated itself or a parser reported the call again when it was complete. To fix it, report
    each call once; a client may ask the user before it runs the second.
    """
    keys = [_key(call) for call in reply.calls]
    seen: dict[Any, int] = {}
    faults = []
    for position, (call, key) in enumerate(zip(reply.calls, keys, strict=True)):
        first = seen.setdefault(key, position)
        # Two calls with one id have a rule of their own.
        if key is None or first == position or call.id == reply.calls[first].id:
            continue
        message = f"expected a call of its own, got {call.name!r:.60} with the arguments of call {first} again"
        faults.append(Fault(message, place=call.place))
    return faults


def _key(call: Call) -> tuple[str, str] | None:
    """Return what two equal calls have in common; None for a call without arguments, or with broken ones."""
    if type(call.arguments) is not str or type(call.name) is not str:
        return None
    try:
        value = orjson.loads(call.arguments)
    except orjson.JSONDecodeError:
        return None
    return (call.name, rendered(value, sort=True)) if value else None
