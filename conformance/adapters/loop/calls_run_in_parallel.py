"""Fact: the calls of one reply are run at once."""

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.adapters.loop import Fault, Level, Parts, Played, Source, fact
from conformance.adapters.loop._session import Batch, parsed

_SAVED: Final = 100
"""How many milliseconds there must be to save, for the clock to tell one way from the other."""


def _slow(played: Played) -> Sequence[Batch]:
    """Return the batches with more than one slow call, as far as it is known when the next request came."""
    return [
        batch
        for batch in played.batches
        if _one_by_one(batch) - max([int(each["delay_ms"]) for each in batch.behaviours]) >= _SAVED
        and batch.exchange + 1 < len(played.moments)
    ]


def _one_by_one(batch: Batch) -> int:
    return sum([int(each["delay_ms"]) for each in batch.behaviours])


@fact(
    Level.MAY,
    on=Parts("reply with several slow calls, and a request after it", _slow),
    source=Source("https://platform.openai.com/docs/guides/function-calling"),
)
def judge(batch: Batch, played: Played) -> Iterator[Fault]:
    """All calls of one reply are run at once.

    A model calls in parallel what does not depend on each other. Told by the driver's own events, and where it tells
    none by the time from the reply to the next request, held against the delays of the tools one after the other. A
    loop may run them in order, and must where they may not overlap. To fix it, start all calls, then wait for all.
    """
    seen = _overlap(batch, played)
    if seen is True:
        return
    elapsed = round(1000 * (played.moments[batch.exchange + 1][0] - played.moments[batch.exchange][1]))
    longest = max([int(each["delay_ms"]) for each in batch.behaviours])
    if seen is False or elapsed >= _one_by_one(batch):
        message = f"expected the next request after {longest} ms, as long as the slowest of {len(batch.calls)} calls"
        yield Fault(f"{message} takes, got it after {_one_by_one(batch)} ms or more, as long as all of them take")


def _overlap(batch: Batch, played: Played) -> bool | None:
    """Say whether a second call was started before the first ended; None where the driver does not tell."""
    wanted = [(call.name, parsed(call.arguments)) for call in batch.calls]
    told = [event.event for event in played.answer.events if event.calls and event.calls[0] in wanted]
    marks = [each for each in told if each in ("start", "end")]
    return marks[1] == "start" if marks[:1] == ["start"] and "end" in marks else None
