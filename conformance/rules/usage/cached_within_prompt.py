from typing import Any

from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Usage
from conformance.wire.views import usages

_DETAILS = "/0/response/usage/prompt_tokens_details"


def _count(value: dict[str, Any]) -> Any:
    details = value.get("prompt_tokens_details")
    return details.get("cached_tokens") if type(details) is dict else None


@rule(
    Level.SHOULD,
    on=usages,
    where=lambda usage, _context: type(_count(usage.value)) is int and type(usage.value.get("prompt_tokens")) is int,
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/object", "Breakdown of tokens used in the prompt."
    ),
    bad=[example("plain", {_DETAILS: {"cached_tokens": 21}})],
    good=[
        example("plain", {_DETAILS: {"cached_tokens": 20}}),
        example("plain", {_DETAILS: {"cached_tokens": 0}}),
    ],
    wires=EVERY,
)
def judge(usage: Usage, _context: Context) -> list[Fault]:
    """Cached tokens are part of the prompt tokens, so there are not more of them.

    Clients subtract the cached tokens from the prompt tokens to get the price; a negative number follows. To fix it,
    include the tokens that come from the cache in the prompt tokens.
    """
    cached, prompt = _count(usage.value), usage.value["prompt_tokens"]
    if cached <= prompt:
        return []
    message = f"expected at most {prompt}, the prompt tokens, got {cached}"
    return [Fault(message, at=("prompt_tokens_details", "cached_tokens"))]
