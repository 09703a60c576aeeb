from conformance.results import Level
from conformance.rules import ELEMENT, EVERY, Context, Fault, Source, example, rule
from conformance.rules.reasoning_claims import THINKS, request_fields
from conformance.wire.elements import Message
from conformance.wire.reasoning import has_field
from conformance.wire.views import plain_turns

_CLAIM = "reasoning.omitted-on-plain-turn"
_REQUIRED = {
    "thinking.mode": "always",
    _CLAIM: {
        "status": 400,
        "message": "The `reasoning_content` in the thinking mode must be passed back to the API.",
    },
}


@rule(
    Level.MUST,
    on=plain_turns,
    reach=ELEMENT,
    where=lambda _turn, context: context.rejects_or_damages(_CLAIM) and context.thinks is True,
    needs=(_CLAIM,),
    source=Source(
        "https://github.com/openclaw/openclaw/issues/73417",
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
    ),
    bad=[example("reasoning-plain-turn", claims=_REQUIRED)],
    good=[
        example("reasoning-plain-turn", {"/0/request/messages/1/reasoning_content": ""}, _REQUIRED),
        example("reasoning-plain-turn", {"/0/request/messages/1/reasoning_content": "Greet."}, _REQUIRED),
    ],
    claim=_CLAIM,
    reads=("reasoning.request-field", *THINKS),
    wires=EVERY,
)
def judge(turn: Message, context: Context) -> list[Fault]:
    """Assistant messages without tool calls include their reasoning if the provider requires it.

    The canonical wire omits it. A few providers check every assistant message, and accept an empty string. To fix it,
    send the field on every assistant message to such a provider.
    """
    fields = request_fields(context)
    if any(has_field(turn.value, field) for field in fields):
        return []
    message = f"expected {' or '.join(fields)} in this assistant message, got none"
    return [Fault(message, values={"field": fields[0], "role": "assistant"})]
