from conformance.results import Level
from conformance.rules import TURN, Context, Fault, Source, example, rule
from conformance.rules.reasoning_claims import THINKS, request_fields
from conformance.wire.elements import ToolTurn
from conformance.wire.reasoning import carried_fields
from conformance.wire.views import tool_turns

_CLAIM = "reasoning.empty-on-tool-turn"
_REFUSED = {
    "thinking.mode": "always",
    _CLAIM: {
        "status": 400,
        "message": "thinking is enabled but reasoning_content is missing in assistant tool call message "
        "at index {index}",
    },
}


@rule(
    Level.MUST,
    on=tool_turns,
    reach=TURN,
    where=lambda turn, context: turn.current and context.rejects_or_damages(_CLAIM) and context.thinks is True,
    needs=(_CLAIM,),
    source=Source(
        "https://github.com/earendil-works/pi/pull/4178",
        "For Moonshot K2.6 specifically, an empty string is still treated as missing",
    ),
    bad=[example("tool-result", {"/0/request/messages/1/reasoning_content": ""}, _REFUSED)],
    good=[
        example("tool-result", {"/0/request/messages/1/reasoning_content": " "}, _REFUSED),
        example("thinking-session", claims=_REFUSED),
    ],
    claim=_CLAIM,
    reads=("reasoning.request-field", *THINKS),
)
def judge(turn: ToolTurn, context: Context) -> list[Fault]:
    """Assistant messages with tool calls have no empty reasoning if the provider rejects it.

    Some providers tolerate an empty string in place of lost reasoning; others treat it as missing. To fix it, send the
    reasoning of the reply.
    """
    if carried_fields(turn.value):
        return []
    for field in request_fields(context):
        value = turn.value.get(field)
        if value in ("", []):
            message = f"expected the reasoning of this assistant message with tool_calls, got {value!r}"
            return [Fault(message, at=(field,), values={"field": field, "role": "assistant"})]
    return []
