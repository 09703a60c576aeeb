"""What a profile claims of streams, which rules take for the provider's known way."""

from conformance.rules import Context
from conformance.wire.parts import Streamed


def claims(context: Context, name: str, *words: str) -> bool:
    """Say whether a claim that is one word or a list of them names one of these."""
    claimed = context.claim(name)
    if type(claimed) is str:
        return claimed in words
    return bool(claimed) and not set(words).isdisjoint(claimed)


def calls(stream: Streamed) -> bool:
    """Say whether a stream holds tool calls."""
    return any(choice.calls for choice in stream.value.choices)
