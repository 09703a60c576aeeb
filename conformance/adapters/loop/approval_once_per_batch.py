"""Fact: a whole batch of calls is put to approval once, before any of them runs."""

from collections.abc import Iterator

from conformance.adapters.loop import ClientSession, Fault, Level, Source, fact, parse_arguments
from conformance.adapters.loop._session import Batch
from conformance.adapters.loop._views import gated_batches


@fact(
    Level.SHOULD,
    on=gated_batches,
    source=Source("https://openai.github.io/openai-agents-python/human_in_the_loop/"),
)
def judge(batch: Batch, session: ClientSession) -> Iterator[Fault]:
    """The tool calls of one reply are submitted for approval once, all together, before any of them runs.

    Someone who is asked call by call cannot weigh the calls against each other, and is asked while others already run.
    Only loops that report their approval gate are checked. To fix it, gate the whole batch first, then run the calls
    that were approved.
    """
    wanted = [(call.name, parse_arguments(call.arguments)) for call in batch.calls]
    gates = [
        (position, event)
        for position, event in enumerate(session.answer.events)
        if event.event == "gate" and any(call in wanted for call in event.calls)
    ]
    if len(gates) != 1:
        yield Fault(f"expected one gate for {len(wanted)} calls, got {len(gates)}")
        return
    ((position, gate),) = gates
    missing = len([call for call in wanted if call not in gate.calls])
    if missing:
        yield Fault(f"expected all {len(wanted)} calls at the gate, got {len(wanted) - missing} of them")
    earlier = session.answer.events[:position]
    started = [event for event in earlier if event.event == "start" and event.calls[0] in wanted]
    if started:
        yield Fault(f"expected no call to run before the gate, got {len(started)} of {len(wanted)}")
