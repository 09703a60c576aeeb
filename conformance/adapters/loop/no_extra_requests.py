"""Fact: nothing is asked that the conversation does not need."""

from collections.abc import Iterator

from conformance.adapters.loop import Fault, Level, Played, Source, fact
from conformance.adapters.loop._session import Asked
from conformance.adapters.loop._views import asked


@fact(Level.SHOULD, on=asked, source=Source("https://platform.openai.com/docs/guides/function-calling"))
def judge(part: Asked, played: Played) -> Iterator[Fault]:
    """Nothing is asked that the conversation does not need.

    A reply without calls ends the loop. A loop that asks on after it, or asks for titles and summaries on the way, is
    paid for by its user. To fix it, end where a reply has no calls, and make what is more than that optional.
    """
    turns = len(played.scenario.turns)
    if part.turn is None:
        yield Fault(f"expected {turns} requests, one a turn of the script, got one more")
