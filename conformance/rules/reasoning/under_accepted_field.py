from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import TURN, Context, Fault, Source, example, rule
from conformance.rules.context import is_refusal
from conformance.rules.reasoning_claims import INPUTS, REQUIRED, is_lost, is_required, omission, request_fields
from conformance.wire.elements import ToolTurn
from conformance.wire.reasoning import carried_fields, has_field
from conformance.wire.views import tool_turns

_READS_REASONING = {"reasoning.request-field": "reasoning", "reasoning.input.reasoning_content": "ignored"}
_DAMAGED = {**_READS_REASONING, "reasoning.omitted-on-earlier-tool-turn": "damaged"}


def _applies(turn: ToolTurn, context: Context) -> bool:
    """Return whether a turn carries reasoning that only the field can make wrong; if required, it counts as missing."""
    return bool(carried_fields(turn.value)) and not is_required(context, current=turn.current)


@rule(
    Level.MUST,
    on=tool_turns,
    reach=TURN,
    where=_applies,
    needs=("reasoning.request-field",),
    reads=(*REQUIRED, *INPUTS),
    source=Source("https://github.com/vllm-project/vllm/pull/33402", "This PR completely removes it from vLLM."),
    bad=[
        example("thinking-session", claims=_READS_REASONING),
        example("reasoning-earlier-turn", claims=_DAMAGED),
    ],
    good=[
        example(
            "reasoning-earlier-turn",
            {
                "/0/request/messages/1/reasoning_content": REMOVE,
                "/0/request/messages/1/reasoning": "I need the weather.",
            },
            _READS_REASONING,
        ),
        example("thinking-session", claims={"reasoning.request-field": ["reasoning", "reasoning_content"]}),
        example("thinking-session", claims={**_READS_REASONING, "reasoning.input.reasoning_content": "accepted"}),
    ],
)
def judge(turn: ToolTurn, context: Context) -> list[Fault]:
    """The reasoning of a message with tool calls is in a field that the provider reads.

    A provider that reads another field drops this one silently, as if no reasoning had been sent. A provider that
    accepts messages without reasoning does not make that harmless. To fix it, rename the
    field for this provider, or send the text in both fields if it accepts both.
    """
    fields = request_fields(context)
    found = carried_fields(turn.value)
    if any(field in found or has_field(turn.value, field) for field in fields):
        return []
    verdicts = {field: context.claims.get(f"reasoning.input.{field}") for field in found}
    if any(verdict == "accepted" or is_refusal(verdict) for verdict in verdicts.values()):
        return []
    wrong = found[0]
    claim = omission(current=turn.current) if verdicts[wrong] == "ignored" else f"reasoning.input.{wrong}"
    message = f"expected the reasoning in {' or '.join(fields)}, got it in {', '.join(found)}"
    at = (wrong,) if wrong in turn.value else ("content",)
    ignored = verdicts[wrong] == "ignored"
    values = {"field": wrong, "role": "assistant"}
    is_loss = ignored and is_lost(context, current=turn.current)
    return [Fault(message, at=at, values=values, claim=claim, is_loss=is_loss, handling=verdicts[wrong])]
