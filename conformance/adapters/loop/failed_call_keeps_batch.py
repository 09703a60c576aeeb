"""Fact: a call that fails does not break the batch."""

from collections.abc import Iterator

from conformance.adapters.loop import Fault, Level, Played, Source, fact
from conformance.adapters.loop._session import Batch, bears
from conformance.adapters.loop._views import failing


@fact(
    Level.MUST,
    on=failing,
    source=Source("schemas/canonical/transcript.json", "N tool calls are followed immediately by N tool messages"),
)
def judge(batch: Batch, played: Played) -> Iterator[Fault]:
    """No call that fails breaks the batch.

    The model can mend what it is told of. A loop that ends with the tool's error, or leaves the other results out,
    loses work that was done, and leaves calls without results. To fix it, catch the error of each call by itself, and
    make a text of it that stands where the result would.
    """
    if not batch.slots:
        if batch.exchange == len(played.conversation) - 1:
            yield Fault("expected the loop to go on with one result a call, the failure as a text, got no more request")
        return
    for position, (slot, behaviour) in enumerate(zip(batch.slots, batch.behaviours, strict=True)):
        call = f"call {position + 1} ({batch.calls[position].name})"
        if behaviour["fails"] and not (slot.text or "").strip():
            yield Fault(f"expected a text that tells of the failure of {call}, got none", place=slot.place)
        elif not behaviour["fails"] and not bears(slot.text or "", str(behaviour["text"])):
            got = "none" if slot.text is None else repr(slot.text[:200])
            yield Fault(f"expected the result of {call}, which did not fail, got {got}", place=slot.place)
