"""Fact: a call that fails does not lose the rest of its batch."""

from collections.abc import Iterator

from conformance.adapters.loop import ClientSession, Fault, Level, Source, fact
from conformance.adapters.loop._session import Batch, contains
from conformance.adapters.loop._views import failing_batches


@fact(
    Level.MUST,
    on=failing_batches,
    source=Source("schemas/canonical/transcript.json", "N tool calls are followed immediately by N tool messages"),
)
def judge(batch: Batch, session: ClientSession) -> Iterator[Fault]:
    """A failed tool call gets its error as the result, and the other calls keep theirs.

    The model can correct a failure that it learns of. A loop that ends with the tool's error, or omits the other
    results, loses work that was done and leaves calls without results. To fix it, catch the error of each call
    separately, and send its text as the result of that call.
    """
    if not batch.slots:
        if batch.exchange == len(session.conversation) - 1:
            yield Fault("expected a request with a result for each call, the failure as text, got no more requests")
        return
    for position, (slot, behaviour) in enumerate(zip(batch.slots, batch.behaviours, strict=True)):
        call = f"call {position + 1} ({batch.calls[position].name})"
        if behaviour["fails"] and not (slot.text or "").strip():
            yield Fault(f"expected a text that reports the failure of {call}, got none", place=slot.place)
        elif not behaviour["fails"] and not contains(slot.text or "", str(behaviour["text"])):
            got = "none" if slot.text is None else repr(slot.text[:200])
            yield Fault(f"expected the result of {call}, which did not fail, got {got}", place=slot.place)
