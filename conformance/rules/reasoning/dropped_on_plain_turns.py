from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.rules.context import is_refusal
from conformance.rules.reasoning_claims import INPUTS, is_preserved
from conformance.wire.elements import Message
from conformance.wire.reasoning import carried_fields
from conformance.wire.views import plain_turns

_CLAIM = "reasoning.on-plain-turn"
_OMITTED = "reasoning.omitted-on-plain-turn"


def _applies(_turn: Message, context: Context) -> bool:
    """Return whether reasoning is not needed here: some providers require it on every turn, or read it on request.

    Where a source says that a turn without it is rejected, and none that one with it is, nobody should leave it out.
    """
    if not context.claims:
        return True
    is_required = context.rejects_or_damages(_OMITTED) or (
        _OMITTED in context.contested and not context.rejects_or_damages(_CLAIM)
    )
    return not is_required and not is_preserved(context)


@rule(
    Level.SHOULD,
    on=plain_turns,
    reach=ELEMENT,
    where=_applies,
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
    claim=_CLAIM,
    reads=(_OMITTED, "thinking.preserve", *INPUTS),
)
def judge(turn: Message, context: Context) -> list[Fault]:
    """Assistant messages without tool calls are sent without reasoning.

    Their reasoning is no longer needed: most providers drop it, some bill it, and DeepSeek's first reasoning model
    rejected it. Where sources disagree whether a provider requires it, sending it is safe, and no fault. To fix it,
    send only the reasoning of messages with tool calls.
    """
    found = carried_fields(turn.value)
    if not found:
        return []
    refused = [each for each in found if is_refusal(context.claims.get(f"reasoning.input.{each}"))]
    if refused and not context.rejects_or_damages(_CLAIM):
        # `reasoning/not-sent-where-refused` covers it.
        return []
    values = {"field": found[0], "role": "assistant"}
    message = f"expected no reasoning in an assistant message without tool_calls, got it in {', '.join(found)}"
    return [Fault(message, at=(found[0],) if found[0] in turn.value else ("content",), values=values)]
