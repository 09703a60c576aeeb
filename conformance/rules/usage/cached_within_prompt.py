from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.faults import can_be_compared, more_than_whole
from conformance.wire.elements import Usage
from conformance.wire.views import usages

_DETAILS = "/0/response/usage/prompt_tokens_details"


@rule(
    Level.SHOULD,
    on=usages,
    where=lambda usage, _context: can_be_compared(usage, "prompt", "cached"),
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
    return more_than_whole(usage, "prompt", "cached")
