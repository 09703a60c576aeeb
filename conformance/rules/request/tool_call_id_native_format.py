"""Rule: ids have the form that the provider gives."""

import re

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_OTHER = {"/0/request/messages/1/tool_calls/0/id": "toolu_1", "/0/request/messages/2/tool_call_id": "toolu_1"}
_CLAIMS = {"ids.format": "call_[a-z]", "ids.foreign": "damaged"}


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: context.bites("ids.foreign") and "ids.input-pattern" not in context.claims,
    source=Source("https://github.com/openclaw/openclaw/pull/70030"),
    bad=[example("tool-result", _OTHER, _CLAIMS)],
    good=[example("tool-result", claims=_CLAIMS)],
    needs=("ids.foreign", "ids.format"),
    refused="ids.foreign",
)
def judge(request: Body, context: Context) -> list[Fault]:
    """The ids of tool calls have the form of the provider's own, where others are refused or do damage.

    Templates that read the function's name from the id are led astray by the ids of another host. To fix it, give
    the calls of another host ids of that form, the same in the call and in its result.
    """
    claimed = context.claim("ids.format")
    patterns = [claimed] if isinstance(claimed, str) else claimed
    return [
        Fault(
            f"expected an id of the form {' or '.join(patterns)}, got {call.id[:40]!r}",
            place=(*call.place, "id"),
            values={"id": call.id, "position": call.position},
        )
        for turn in context.index.turns
        if turn.place[0] == request.place[0]
        for call in turn.calls
        if type(call.id) is str and call.id and not any(re.fullmatch(each, call.id) for each in patterns)
    ]
