"""Fact: the loop sends no more requests than the conversation needs."""

from collections.abc import Iterator

from conformance.adapters.loop import ClientSession, Fault, Level, Source, fact
from conformance.adapters.loop._session import SessionRequest
from conformance.adapters.loop._views import accepted_requests


@fact(
    Level.SHOULD,
    on=accepted_requests,
    source=Source("https://platform.openai.com/docs/guides/function-calling"),
)
def judge(request: SessionRequest, session: ClientSession) -> Iterator[Fault]:
    """The loop sends no more requests than the conversation needs.

    A reply without calls ends the loop. Requests after it, or for titles and summaries in between, cost the user money.
    To fix it, stop when a reply has no calls, and make any other request optional.
    """
    turns = len(session.scenario.turns)
    if request.turn is None:
        yield Fault(f"expected {turns} requests, one for each turn of the script, got one more")
