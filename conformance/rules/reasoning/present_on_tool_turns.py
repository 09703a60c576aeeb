from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import EVERY, TURN, Context, Fault, Source, example, rule
from conformance.rules.reasoning_claims import REQUIRED, is_required, omission, request_fields
from conformance.wire.elements import ToolTurn
from conformance.wire.reasoning import has_field
from conformance.wire.views import tool_turns

_REFUSAL = {
    "status": 400,
    "message": "The `reasoning_content` in the thinking mode must be passed back to the API.",
    "type": "invalid_request_error",
}
_THINKS = {"thinking.mode": "always", "reasoning.omitted-on-tool-turn": _REFUSAL}
_IN_ALL = {**_THINKS, "reasoning.omitted-on-earlier-tool-turn": _REFUSAL}
_NULL = "reasoning.null-on-tool-turn"
_NULL_ALONE = {"thinking.mode": "always", "reasoning.omitted-on-tool-turn": "accepted", _NULL: {"status": 500}}


def _null_is_refused(turn: ToolTurn, context: Context) -> bool:
    """Return whether the reasoning is null and the provider rejects null, though it may accept no reasoning."""
    if not context.rejects_or_damages(_NULL) or context.thinks is not True:
        return False
    return any([turn.value.get(field, "") is None for field in request_fields(context)])


@rule(
    Level.MUST,
    on=tool_turns,
    reach=TURN,
    where=lambda turn, context: is_required(context, current=turn.current) or _null_is_refused(turn, context),
    needs=("reasoning.omitted-on-tool-turn",),
    source=Source(
        "https://github.com/anomalyco/opencode/issues/24083",
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
    ),
    bad=[
        example("tool-result", claims=_THINKS),
        example("tool-result", {"/0/request/messages/1/reasoning_content": None}, _THINKS),
        example("tool-result", {"/0/request/messages/1/reasoning_content": None}, _NULL_ALONE),
        example("reasoning-earlier-turn", {"/0/request/messages/1/reasoning_content": REMOVE}, _IN_ALL),
    ],
    good=[
        example("thinking-session", claims=_IN_ALL),
        example("tool-result", {"/0/request/messages/1/reasoning_content": ""}, _THINKS),
        example("details-session", claims={**_THINKS, "reasoning.request-field": "reasoning_details"}),
    ],
    claim="reasoning.omitted-on-tool-turn",
    reads=("reasoning.request-field", _NULL, *REQUIRED),
    wires=EVERY,
)
def judge(turn: ToolTurn, context: Context) -> list[Fault]:
    """Assistant messages with tool calls include their reasoning if the provider requires it.

    The provider continues the loop from the reasoning; without it, it rejects the request or its output degrades. The
    rule applies only if the model is known to think. Turns before the last user message have a claim of their own.
    To fix it, keep the reasoning of each reply with tool calls and send it back in the field that the provider reads.
    """
    fields = request_fields(context)
    for field in fields:
        if has_field(turn.value, field):
            return []
    null_field = next((field for field in fields if field in turn.value), None)
    got = "none" if null_field is None else "null"
    claim = _NULL
    if null_field is None or not context.knows(claim):
        claim = omission(current=turn.current)
    message = f"expected {' or '.join(fields)} in this assistant message with tool_calls, got {got}"
    return [Fault(message, values={"field": fields[0], "role": "assistant"}, claim=claim)]
