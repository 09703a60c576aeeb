"""Rule: reasoning where a plain turn must have it."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules._context import bites
from conformance.rules._reasoning import in_requests
from conformance.wire.elements import Message
from conformance.wire.reasoning import has_field
from conformance.wire.views import plain_turns

_CLAIM = "reasoning.omitted-on-plain-turn"
_DEMANDED = {
    "thinking.mode": "always",
    _CLAIM: {
        "status": 400,
        "message": "The `reasoning_content` in the thinking mode must be passed back to the API.",
    },
}


def _is_demanded(_turn: Message, context: Context) -> bool:
    return bites(context.claims.get(_CLAIM)) and context.thinks is True


@rule(
    Level.MUST,
    on=plain_turns,
    where=_is_demanded,
    needs=(_CLAIM,),
    source=Source("https://github.com/openclaw/openclaw/issues/73417"),
    bad=[example("reasoning-plain-turn", claims=_DEMANDED)],
    good=[
        example("reasoning-plain-turn", {"/0/request/messages/1/reasoning_content": ""}, _DEMANDED),
        example("reasoning-plain-turn", {"/0/request/messages/1/reasoning_content": "Greet."}, _DEMANDED),
    ],
    refused=_CLAIM,
)
def judge(turn: Message, context: Context) -> list[Fault]:
    """A thinking model's plain turn carries its reasoning where the provider demands it there too.

    The canonical wire drops it. A few providers check every assistant message instead, and bear an empty string for
    it. To fix it, send the field on every assistant message to such a provider.
    """
    fields = in_requests(context)
    if any(has_field(turn.value, field) for field in fields):
        return []
    message = f"expected {' or '.join(fields)} in this assistant message, got none"
    return [Fault(message, values={"field": fields[0], "role": "assistant"})]
