from collections.abc import Iterator
from typing import Any

from conformance.results import Level
from conformance.rules import ELEMENT, WITH_IDS, Context, Fault, Source, example, rule
from conformance.rules.conditions import request_has_turns
from conformance.wire.elements import Body, Call
from conformance.wire.keys import key_of
from conformance.wire.reuse import described, is_same_call
from conformance.wire.views import requests

_AGAIN = {"/0/request/messages/2/tool_calls/1/id": "call_a", "/0/request/messages/4/tool_call_id": "call_a"}
_REFUSED = {"ids.duplicate-in-message": {"status": 400, "message": "Duplicate tool call id {id} in assistant message"}}


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    among=request_has_turns,
    where=lambda _request, context: any([len(turn.ids) > 1 for turn in context.turns]),
    when=lambda claimed: claimed.rejects_or_damages("ids.duplicate-in-message"),
    source=Source("https://github.com/bug-ops/zeph/pull/6506", "tool_calls[].id must be unique within the request"),
    bad=[
        example("tool-result-parallel", _AGAIN, _REFUSED),
        example("tool-result-parallel", _AGAIN, {"ids.duplicate-in-message": "damaged"}),
    ],
    good=[example("tool-result-parallel", claims=_REFUSED)],
    needs=("ids.duplicate-in-message",),
    claim="ids.duplicate-in-message",
    wires=WITH_IDS,
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """Tool call ids differ within a message if the provider rejects or confuses equal ones.

    The equal ids are the host's fault; only the order shows which result belongs to which call. To fix it, rename the
    later of the two, in the call and in its result.
    """
    return [
        Fault(
            f"expected an id that is new in this message, got {call.id!r:.60} again, {_with(call, other)}",
            place=(*turn.place, "tool_calls", call.position, "id"),
            values={"id": call.id, "ids": call.id, "position": call.position},
        )
        for turn in context.turns
        if len(turn.ids) > 1 and len(set(map(key_of, turn.ids))) < len(turn.ids)
        for call, other in _repeated(turn.calls)
    ]


def _repeated(calls: list[Call]) -> Iterator[tuple[Call, Call]]:
    """Yield the calls whose id an earlier call has, each with the first that has it; empty ids do not count."""
    seen: dict[Any, Call] = {}
    for call in calls:
        first = seen.setdefault(key_of(call.id), call)
        if call.id and first is not call:
            yield call, first


def _with(call: Call, other: Call) -> str:
    """Return in words what the first call with an id is."""
    return "for the same call" if is_same_call(call, other) else f"which is that of {described(other)}"
