"""Fact: each tool message contains the result of its own call."""

from collections.abc import Iterator, Sequence

from conformance.adapters.loop import ClientSession, Fault, Level, Source, fact
from conformance.adapters.loop._session import Batch, ResultSlot, contains, is_malformed
from conformance.adapters.loop._views import resent_batches


@fact(Level.MUST, on=resent_batches, source=Source("https://github.com/can1357/oh-my-pi/issues/11179"))
def judge(batch: Batch, session: ClientSession) -> Iterator[Fault]:
    """Each tool message contains the result of its own call.

    Ids can repeat or be empty, and tools finish in any order. A loop that stores results by id, or in the order in
    which they arrive, tells the model the weather of the wrong city. A result belongs to a call by its id if the ids of
    the message are distinct, otherwise by its position. The client may choose the text for a call that failed, was
    denied or has unparsable arguments. Every request with the calls is checked, because an id that restarts in a later
    reply lets a loop overwrite an older result: the result of another call is a MUST there too, and a text of the
    client's own, such as a summary, is a SHOULD. To fix it, keep one slot for each call, fill it in place, and append
    the slots in the order of the calls.
    """
    yield from _faults(batch, batch.slots)
    before = batch.slots
    for slots in batch.repeats:
        changed = [
            slot if slot.text != old.text else slot._replace(text=None)
            for slot, old in zip(slots, before, strict=False)
        ]
        yield from _faults(batch, changed, _texts_of_other_replies(batch, session))
        before = slots or before


def _faults(batch: Batch, slots: Sequence[ResultSlot], foreign: Sequence[str] | None = None) -> Iterator[Fault]:
    """Yield the slots with a wrong text; `foreign`: the results of other replies, in a later request."""
    texts = [str(behaviour["text"]) for behaviour in batch.behaviours]
    for position, slot in enumerate(slots):
        own = texts[position]
        if slot.text is None or contains(slot.text, own):
            continue
        expected = f"expected the result of call {position + 1} ({batch.calls[position].name}), {own!r}"
        others = [other for other, text in enumerate(texts) if text and text != own and contains(slot.text, text)]
        is_other_reply = any(text != own and contains(slot.text, text) for text in foreign or ())
        if others:
            message = f"{expected}, got that of call {others[0] + 1}: {slot.text[:200]!r}"
        elif is_other_reply:
            message = f"{expected}, as in the request before, got that of a call of another reply: {slot.text[:200]!r}"
        elif _is_free(batch, position):
            continue
        else:
            message = f"{expected}, got {slot.text[:200]!r}"
        is_own_text = foreign is not None and not others and not is_other_reply
        yield Fault(message, place=(*slot.place, "content"), level=Level.SHOULD if is_own_text else None)


def _texts_of_other_replies(batch: Batch, session: ClientSession) -> list[str]:
    """Return the results of the calls of other replies."""
    others = [other for other in session.batches if other.exchange != batch.exchange]
    return [str(behaviour["text"]) for other in others for behaviour in other.behaviours if behaviour["text"]]


def _is_free(batch: Batch, position: int) -> bool:
    """Return whether the client may choose the text of a result: the call failed, was denied or cannot be parsed."""
    behaviour = batch.behaviours[position]
    return behaviour["fails"] or behaviour["denied"] or is_malformed(batch.calls[position].arguments)
