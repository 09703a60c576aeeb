"""Fact: the calls of one reply run in parallel."""

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.adapters.loop import ClientSession, Fault, Level, LoopView, Source, fact, parse_arguments
from conformance.adapters.loop._session import Batch

_MEASURABLE_MS: Final = 100
"""How much longer calls must take in order than in parallel, so that the clock can tell the difference."""


def _slow(session: ClientSession) -> Sequence[Batch]:
    """Return the batches with more than one slow call, if the arrival of the next request is known."""
    return [
        batch
        for batch in session.batches
        if _total_ms(batch) - _longest_ms(batch) >= _MEASURABLE_MS and batch.exchange + 1 < len(session.moments)
    ]


def _total_ms(batch: Batch) -> int:
    return sum([int(behaviour["delay_ms"]) for behaviour in batch.behaviours])


def _longest_ms(batch: Batch) -> int:
    return max([int(behaviour["delay_ms"]) for behaviour in batch.behaviours])


@fact(
    Level.MAY,
    on=LoopView("reply with several slow calls, and a request after it", _slow),
    source=Source("https://platform.openai.com/docs/guides/function-calling"),
)
def judge(batch: Batch, session: ClientSession) -> Iterator[Fault]:
    """All tool calls of one reply run in parallel.

    A model puts calls into one reply because they do not depend on each other. The check uses the events that the
    driver reports; without them it compares the time from the reply to the next request with the sum of the tools'
    delays. A loop may run calls in order, and must if they may not overlap. To fix it, start all calls, then wait for
    all of them.
    """
    overlap = _overlap(batch, session)
    if overlap is True:
        return
    elapsed = round(1000 * (session.moments[batch.exchange + 1][0] - session.moments[batch.exchange][1]))
    if overlap is False or elapsed >= _total_ms(batch):
        expected = f"expected the next request after {_longest_ms(batch)} ms, the longest of {len(batch.calls)} calls"
        yield Fault(f"{expected}, got it after {_total_ms(batch)} ms or more, the sum of all calls")


def _overlap(batch: Batch, session: ClientSession) -> bool | None:
    """Return whether a second call started before the first ended; None if the driver does not report it."""
    wanted = [(call.name, parse_arguments(call.arguments)) for call in batch.calls]
    own = [event.event for event in session.answer.events if event.calls and event.calls[0] in wanted]
    marks = [event for event in own if event in ("start", "end")]
    return marks[1] == "start" if marks[:1] == ["start"] and "end" in marks else None
