"""Rule: no reasoning on plain turns."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules._context import bites, refuses
from conformance.rules._reasoning import preserved
from conformance.wire.elements import Message
from conformance.wire.reasoning import carried_fields
from conformance.wire.views import plain_turns

_CLAIM = "reasoning.on-plain-turn"


def _is_judged(_turn: Message, context: Context) -> bool:
    """Say whether reasoning is to be dropped here: some providers demand it on every turn, or read it when asked to."""
    if not context.claims:
        return True
    return not bites(context.claims.get("reasoning.omitted-on-plain-turn")) and not preserved(context)


@rule(
    Level.SHOULD,
    on=plain_turns,
    where=_is_judged,
    source=Source("schemas/canonical/transcript.json", "the reasoning of one without tool calls is omitted"),
    bad=[
        example("thinking-session", {"/3/request/messages/7/reasoning_content": "I have all three."}),
        example(
            "reasoning-plain-turn",
            {"/0/request/messages/1/reasoning_content": "A greeting."},
            {_CLAIM: {"status": 400, "message": "reasoning_content is not allowed"}},
        ),
    ],
    good=[
        example("thinking-session"),
        example("reasoning-plain-turn", {"/0/request/messages/1/reasoning_content": ""}),
    ],
    refused=_CLAIM,
)
def judge(turn: Message, context: Context) -> list[Fault]:
    """An assistant message without tool calls carries no reasoning.

    Its thought is done: most providers drop it, some bill it, and DeepSeek's first reasoning model refused it.
    To fix it, send the reasoning of tool turns only.
    """
    found = carried_fields(turn.value)
    if not found:
        return []
    if not context.knows((_CLAIM,)) and any(refuses(context.claims.get(f"reasoning.input.{each}")) for each in found):
        return []
    values = {"field": found[0], "role": "assistant"}
    message = f"expected no reasoning in an assistant message without tool_calls, got it under {', '.join(found)}"
    return [Fault(message, at=(found[0],) if found[0] in turn.value else ("content",), values=values)]
