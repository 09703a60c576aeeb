from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.faults import can_be_compared, more_than_whole
from conformance.wire.elements import Usage
from conformance.wire.views import usages

_DETAILS = "/0/response/usage/completion_tokens_details"


@rule(
    Level.SHOULD,
    on=usages,
    where=lambda usage, context: (
        can_be_compared(usage, "completion", "reasoning")
        and context.claim("usage.reasoning-tokens", "inside") == "inside"
    ),
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/object", "Breakdown of tokens used in a completion."
    ),
    bad=[example("plain", {_DETAILS: {"reasoning_tokens": 11}})],
    good=[
        example("plain", {_DETAILS: {"reasoning_tokens": 10}}),
        example("plain", {_DETAILS: {"reasoning_tokens": 4}}, {"usage.reasoning-tokens": "inside"}),
    ],
    reads=("usage.reasoning-tokens",),
    wires=EVERY,
)
def judge(usage: Usage, _context: Context) -> list[Fault]:
    """Reasoning tokens are part of the completion tokens, so there are not more of them.

    Budgets and prices are based on completion tokens; tokens counted beside them are missed. To fix it, include
    reasoning in the completion tokens.
    """
    return more_than_whole(usage, "completion", "reasoning")
