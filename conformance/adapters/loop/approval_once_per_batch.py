"""Fact: the calls of a reply are put before whoever approves them once, together, before any is run."""

from collections.abc import Iterator

from conformance.adapters.loop import Fault, Level, Played, Source, fact
from conformance.adapters.loop._session import Batch, parsed
from conformance.adapters.loop._views import gated


@fact(
    Level.SHOULD,
    on=gated,
    source=Source("https://openai.github.io/openai-agents-python/human_in_the_loop/"),
)
def judge(batch: Batch, played: Played) -> Iterator[Fault]:
    """Each batch of calls is put before whoever approves it once, as a whole, before any call is run.

    Who is asked call by call cannot weigh them against each other, and is asked while others run already. Only loops
    that show their gate can be judged. To fix it, gate the whole batch first, then run what was allowed.
    """
    wanted = [(call.name, parsed(call.arguments)) for call in batch.calls]
    gates = [
        (position, event)
        for position, event in enumerate(played.answer.events)
        if event.event == "gate" and any(call in wanted for call in event.calls)
    ]
    if len(gates) != 1:
        yield Fault(f"expected one gate for {len(wanted)} calls, got {len(gates)}")
        return
    ((at, gate),) = gates
    missing = len([call for call in wanted if call not in gate.calls])
    if missing:
        yield Fault(f"expected all {len(wanted)} calls at the gate, got {len(wanted) - missing} of them")
    before = [event for event in played.answer.events[:at] if event.event == "start" and event.calls[0] in wanted]
    if before:
        yield Fault(f"expected no call to run before the gate, got {len(before)} of {len(wanted)}")
