"""Fact: a request that was refused for what it is, is not sent again."""

from collections.abc import Iterator

from conformance.adapters.loop import Fault, Level, Played, Source, fact
from conformance.adapters.loop._views import Refused, refused


@fact(
    Level.MUST,
    on=refused,
    source=Source("https://www.rfc-editor.org/rfc/rfc9110#name-400-bad-request"),
)
def judge(part: Refused, played: Played) -> Iterator[Fault]:
    """No request that was refused for what it is, is sent again.

    The same request gets the same 400, and the user waits longer for the same error. Time-outs and rate limits (408,
    409, 425, 429) are another matter. To fix it, retry on these and on 5xx alone.
    """
    for number in range(part.number + 1, len(played.conversation)):
        if played.conversation[number].request == part.exchange.request:
            message = f"expected no second try after status {part.exchange.status}, got request {part.number} again"
            yield Fault(message, place=(number, "request"))
            return
