"""Fact: each tool message contains the result of its own call."""

from collections.abc import Iterator

from conformance.adapters.loop import ClientSession, Fault, Level, Source, fact
from conformance.adapters.loop._session import Batch, contains, is_malformed
from conformance.adapters.loop._views import resent_batches


@fact(Level.MUST, on=resent_batches, source=Source("https://github.com/can1357/oh-my-pi/issues/11179"))
def judge(batch: Batch, _session: ClientSession) -> Iterator[Fault]:
    """Each tool message contains the result of its own call.

    Ids can repeat or be empty, and tools finish in any order. A loop that stores results by id, or in the order in
    which they arrive, tells the model the weather of the wrong city. A result belongs to a call by its id if the ids of
    the message are distinct, otherwise by its position. The client may choose the text for a call that failed, was
    denied or has unparsable arguments. To fix it, keep one slot for each call, fill it in place, and append the slots
    in the order of the calls.
    """
    texts = [str(behaviour["text"]) for behaviour in batch.behaviours]
    for position, slot in enumerate(batch.slots):
        if slot.text is None:
            continue
        call = f"call {position + 1} ({batch.calls[position].name})"
        own = texts[position]
        if contains(slot.text, own):
            continue
        others = [other for other, text in enumerate(texts) if text and text != own and contains(slot.text, text)]
        if others:
            message = f"expected the result of {call}, {own!r}, got that of call {others[0] + 1}: {slot.text[:200]!r}"
            yield Fault(message, place=(*slot.place, "content"))
        elif not _is_free(batch, position):
            message = f"expected the result of {call}, {own!r}, got {slot.text[:200]!r}"
            yield Fault(message, place=(*slot.place, "content"))


def _is_free(batch: Batch, position: int) -> bool:
    """Return whether the client may choose the text of a result: the call failed, was denied or cannot be parsed."""
    behaviour = batch.behaviours[position]
    return behaviour["fails"] or behaviour["denied"] or is_malformed(batch.calls[position].arguments)
