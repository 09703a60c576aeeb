"""Fact: a rejected request is not sent again unchanged."""

from collections.abc import Iterator

from conformance.adapters.loop import ClientSession, Fault, Level, Source, fact
from conformance.adapters.loop._views import RejectedRequest, rejected_requests


@fact(
    Level.MUST,
    on=rejected_requests,
    source=Source("https://www.rfc-editor.org/rfc/rfc9110#name-400-bad-request"),
)
def judge(request: RejectedRequest, session: ClientSession) -> Iterator[Fault]:
    """A rejected request is not sent again unchanged.

    The same request gets the same 400, and the user waits longer for the same error. Timeouts and rate limits (408,
    409, 425, 429) are different. To fix it, retry only on those statuses and on 5xx.
    """
    for number in range(request.number + 1, len(session.conversation)):
        if session.conversation[number].request == request.exchange.request:
            message = f"expected no retry after status {request.exchange.status}, got the same request as {number}"
            yield Fault(message, place=(number, "request"))
            return
