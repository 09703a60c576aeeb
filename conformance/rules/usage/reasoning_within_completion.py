from typing import Any

from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Usage
from conformance.wire.views import usages

_DETAILS = "/0/response/usage/completion_tokens_details"


def _count(value: dict[str, Any]) -> Any:
    details = value.get("completion_tokens_details")
    return details.get("reasoning_tokens") if type(details) is dict else None


@rule(
    Level.SHOULD,
    on=usages,
    where=lambda usage, context: (
        type(_count(usage.value)) is int
        and type(usage.value.get("completion_tokens")) is int
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
    reasoning, completion = _count(usage.value), usage.value["completion_tokens"]
    if reasoning <= completion:
        return []
    message = f"expected at most {completion}, the completion tokens, got {reasoning}"
    return [Fault(message, at=("completion_tokens_details", "reasoning_tokens"))]
