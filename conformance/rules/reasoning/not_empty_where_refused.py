"""Rule: no empty reasoning where it counts as none."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules._context import bites
from conformance.rules._reasoning import in_requests
from conformance.wire.elements import Turn
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
    where=lambda turn, context: turn.current and bites(context.claims.get(_CLAIM)) and context.thinks is True,
    needs=(_CLAIM,),
    source=Source("https://github.com/theopenco/llmgateway/pull/2093"),
    bad=[example("tool-result", {"/0/request/messages/1/reasoning_content": ""}, _REFUSED)],
    good=[
        example("tool-result", {"/0/request/messages/1/reasoning_content": " "}, _REFUSED),
        example("thinking-session", claims=_REFUSED),
    ],
    refused=_CLAIM,
)
def judge(turn: Turn, context: Context) -> list[Fault]:
    """A thinking model's tool turn has no empty reasoning where the provider takes that for none.

    Some providers bear an empty string where reasoning was lost, others answer as if the field were missing.
    To fix it, send the reasoning that the reply gave.
    """
    if carried_fields(turn.value):
        return []
    for field in in_requests(context):
        value = turn.value.get(field)
        if value in ("", []):
            message = f"expected the reasoning of this assistant message with tool_calls, got {value!r}"
            return [Fault(message, at=(field,), values={"field": field, "role": "assistant"})]
    return []
