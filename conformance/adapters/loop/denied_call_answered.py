"""Fact: a call that is denied has its result, and is not run."""

from collections.abc import Iterator

from conformance.adapters.loop import Fault, Level, Played, Source, fact
from conformance.adapters.loop._session import Batch, parsed
from conformance.adapters.loop._views import denied


@fact(
    Level.MUST,
    on=denied,
    source=Source("schemas/canonical/transcript.json", "N tool calls are followed immediately by N tool messages"),
)
def judge(batch: Batch, played: Played) -> Iterator[Fault]:
    """Each call that is denied has its result, and is not run.

    The user's no is what the model has to hear: as a tool message in the place of the result, beside those of the
    calls that were allowed. To fix it, fill the slot of a denied call with a text that says so, and go on.
    """
    if not batch.slots and batch.exchange == len(played.conversation) - 1:
        yield Fault("expected the loop to go on and to tell the model of the denial, got no more request")
    events = played.answer.events
    weighed = [call for event in events if event.event in ("gate", "asked") for call in event.calls]
    started = [call for event in events if event.event == "start" for call in event.calls]
    for position, (call, behaviour) in enumerate(zip(batch.calls, batch.behaviours, strict=True)):
        if not behaviour["denied"]:
            continue
        shown = f"call {position + 1} ({call.name})"
        if batch.slots and not (batch.slots[position].text or "").strip():
            place = batch.slots[position].place
            yield Fault(f"expected a text that tells of the denial of {shown}, got none", place=place)
        meant = (call.name, parsed(call.arguments))
        # A loop that cannot ask for approval runs every call, and the function itself tells of the denial.
        if meant in weighed and meant in started:
            yield Fault(f"expected {shown} not to be run, since it is denied, got that it was started")
