"""Fact: a denied call gets a result and is not run."""

from collections.abc import Iterator

from conformance.adapters.loop import ClientSession, Fault, Level, Source, fact, parse_arguments
from conformance.adapters.loop._session import Batch
from conformance.adapters.loop._views import denied_batches


@fact(
    Level.MUST,
    on=denied_batches,
    source=Source("schemas/canonical/transcript.json", "N tool calls are followed immediately by N tool messages"),
)
def judge(batch: Batch, session: ClientSession) -> Iterator[Fault]:
    """Each denied tool call gets a result and is not run.

    The model must learn of the user's denial: as a tool message in the place of the result, beside the results of the
    calls that were approved. To fix it, answer a denied call with a tool message that says so, and continue the loop.
    """
    if not batch.slots and batch.exchange == len(session.conversation) - 1:
        yield Fault("expected a request that reports the denial to the model, got no more requests")
    events = session.answer.events
    gated = [call for event in events if event.event in ("gate", "asked") for call in event.calls]
    started = [call for event in events if event.event == "start" for call in event.calls]
    for position, (call, behaviour) in enumerate(zip(batch.calls, batch.behaviours, strict=True)):
        if not behaviour["denied"]:
            continue
        shown = f"call {position + 1} ({call.name})"
        if batch.slots and not (batch.slots[position].text or "").strip():
            place = batch.slots[position].place
            yield Fault(f"expected a text that reports the denial of {shown}, got none", place=place)
        own = (call.name, parse_arguments(call.arguments))
        # A loop that cannot ask for approval runs every call, and the function itself reports the denial.
        if own in gated and own in started:
            yield Fault(f"expected the denied {shown} not to run, got that it started")
